// What a device that moves the arm at a rate shows: how it is, in a line with a sign, its picture, and which arm it drives.

import { set } from '/view.js';

function element(tag, className, parent) {
  const made = document.createElement(tag);
  made.className = className;
  parent.append(made);
  return made;
}

export class RateSection {
  // onArm(name): another arm was chosen.
  constructor(name, { onArm }) {
    this.onArm = onArm;
    this.root = element('section', 'device rates', document.querySelector('.card.keys'));
    this.root.id = name;
    this.root.hidden = true; // until it is chosen
    this.root.role = 'tabpanel';
    this.root.setAttribute('aria-labelledby', `drive-tab-${name}`);
    this.line = element('p', 'rates-line', this.root);
    this.line.role = 'status';
    element('i', '', this.line).setAttribute('aria-hidden', 'true');
    const words = element('span', '', this.line);
    this.title = element('strong', '', words);
    this.words = element('span', '', words);
    this.arms = element('div', 'rates-arms', this.root);
    this.arms.role = 'radiogroup';
    this.arms.setAttribute('aria-label', 'Which arm');
    this.body = element('div', 'rates-body', this.root);
  }

  // level: missing (this browser cannot), wait (for a device), ready, or on (it drives).
  say(level, title, words) {
    set(this.line.dataset, 'level', level);
    set(this.title, 'textContent', title);
    set(this.words, 'textContent', words);
    set(this.body, 'hidden', level === 'missing');
  }

  showArms(parts, chosen) {
    set(this.arms, 'hidden', parts.length < 2);
    const key = [...parts, chosen].join('\n');
    if (this.arms.dataset.key === key) return;
    this.arms.dataset.key = key;
    this.arms.replaceChildren(...parts.map((name) => {
      const choice = document.createElement('button');
      Object.assign(choice, { type: 'button', role: 'radio', textContent: `${name[0].toUpperCase()}${name.slice(1)} arm` });
      choice.setAttribute('aria-checked', String(name === chosen));
      choice.addEventListener('click', () => this.onArm(name));
      return choice;
    }));
  }
}
