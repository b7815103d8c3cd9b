// What the page says of the episode and the link, for a device that shows it elsewhere in the same words.

const node = (id) => document.getElementById(id);

export function pageWords() {
  return {
    task: node('instruction').textContent,
    clock: node('clock').textContent.split('.')[0],
    phase: node('phase').textContent,
    link: { word: node('link-word').textContent, level: node('link').dataset.level },
    notice: node('notices').lastElementChild?.textContent ?? '',
  };
}
