// Drawings, made element by element: the page's policy allows no markup in scripts.

const SVG = 'http://www.w3.org/2000/svg';
const LINE = 13; // between two lines of words

export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Words beside a drawing. lines: of [what is moved, what it does]; either may be empty.
export function write(text, lines) {
  const x = text.getAttribute('x');
  text.replaceChildren(...lines.map(([control, does], index) => svg(
    'tspan', { x, dy: index ? LINE : 0 },
    svg('tspan', { class: 'control' }, control), control && does ? ` ${does}` : does,
  )));
  return text;
}

export function words(x, y, anchor, lines = []) {
  return write(svg('text', { x, y, 'text-anchor': anchor }), lines);
}
