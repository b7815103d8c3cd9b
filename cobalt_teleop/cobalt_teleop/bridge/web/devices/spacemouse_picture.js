// A SpaceMouse, drawn from the side, with words of what its cap and its buttons do; the drawn cap moves as the real one.

import { svg, words } from '/devices/svg.js';

const SHIFT = 12; // how far the drawn cap goes
const TILT = 12; // and how far it leans [deg]

export class SpaceMousePicture {
  constructor() {
    this.cap = svg(
      'g', { class: 'cap' },
      svg('path', { class: 'part', d: 'M134 78c0-8 18-14 42-14s42 6 42 14l5 30c0 9-21 16-47 16s-47-7-47-16z' }),
      svg('ellipse', { class: 'top', cx: 176, cy: 78, rx: 42, ry: 14 }),
    );
    this.mark = svg('path', { class: 'mark', d: 'M176 70v9' });
    this.cap.append(this.mark);
    this.left = svg('path', { class: 'part', d: 'M120 124c-9 4-14 9-14 15 0 3 1 6 4 9l18-5c-3-6-4-12-8-19z' });
    this.right = svg('path', { class: 'part', d: 'M232 124c9 4 14 9 14 15 0 3-1 6-4 9l-18-5c3-6 4-12 8-19z' });
    this.root = svg(
      'svg', { viewBox: '-12 10 376 158', role: 'img' },
      svg('title', {}, 'Slide, lift or press the cap to move the tool, twist or lean it to turn the tool. The left button closes the gripper, the right one opens it.'),
      svg('ellipse', { class: 'body', cx: 176, cy: 138, rx: 78, ry: 26 }), this.left, this.right, this.cap,
      svg('path', { class: 'arrow', d: 'M176 48V20m-6 8 6-8 6 8M176 48v8m-5-6 5 6 5-6M112 92H86m8-6-8 6 8 6M240 92h26m-8-6 8 6-8 6' }),
      words(192, 24, 'start', [['Lift', 'up'], ['Press', 'down']]),
      words(76, 80, 'end', [['Slide', ''], ['', 'left, right,'], ['', 'away, closer']]),
      words(276, 80, 'start', [['Twist', 'turns'], ['Lean', 'tilts,'], ['', 'rolls']]),
      words(88, 150, 'end', [['Left button', ''], ['', 'closes gripper']]),
      words(264, 150, 'start', [['Right button', ''], ['', 'opens gripper']]),
    );
  }

  // state: { axes, buttons }, as reported.
  show({ axes: [x, y, z, rx, ry, rz], buttons }) {
    const across = x * SHIFT, along = y * SHIFT / 2 + z * SHIFT;
    this.cap.setAttribute('transform', `translate(${across.toFixed(1)} ${along.toFixed(1)}) rotate(${(-ry * TILT).toFixed(1)} 176 124)`);
    this.mark.setAttribute('transform', `translate(${(rz * 26).toFixed(1)} ${(-rx * 5).toFixed(1)})`);
    this.cap.classList.toggle('lit', [x, y, z, rx, ry, rz].some((value) => Math.abs(value) > 0.05));
    this.left.classList.toggle('lit', Boolean(buttons & 1));
    this.right.classList.toggle('lit', Boolean(buttons & 2));
  }
}
