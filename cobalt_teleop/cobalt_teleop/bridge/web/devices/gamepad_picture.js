// A gamepad, drawn with words of what each control does, and lit as it is moved.

import { namesOf } from '/devices/gamepad_names.js';
import { svg, words, write } from '/devices/svg.js';

const STICK = 6; // how far a drawn stick goes
const MOVED = 0.15; // of a stick that is lit

const BODY = 'M120 56h112c18 0 29 11 34 33l12 62c5 24-7 37-21 37-12 0-19-7-27-22l-7-13h-94l-7 13c-8 15-15 22-27 22-14 0-26-13-21-37l12-62c5-22 16-33 34-33z';

export class GamepadPicture {
  constructor() {
    const bar = (x, y, width) => svg('rect', { x, y, width, height: 14, rx: 7, class: 'part' });
    this.parts = {
      open: bar(112, 20, 34), close: bar(206, 20, 34), left: bar(106, 40, 46), right: bar(200, 40, 46),
      cross: svg('path', { class: 'part', d: 'M144 119h12v10h10v12h-10v10h-12v-10h-10v-12h10z' }),
    };
    this.sticks = [[128, 90], [202, 135]].map(([cx, cy]) => {
      const knob = svg('circle', { cx, cy, r: 11, class: 'part' });
      return { knob, drawn: svg('g', {}, svg('circle', { cx, cy, r: 17, class: 'well' }), knob) };
    });
    const buttons = [[226, 76], [213, 89], [239, 89], [226, 102]].map(([cx, cy]) => svg('circle', { cx, cy, r: 5, class: 'idle' }));
    this.words = {
      open: words(96, 21, 'end'), left: words(96, 51, 'end'), stick: words(66, 88, 'end', [['Stick', ''], ['', 'away, closer,'], ['', 'left, right']]),
      cross: words(66, 140, 'end', [['Cross', ''], ['', 'tilts, rolls']]),
      close: words(256, 21, 'start'), right: words(256, 51, 'start'), other: words(286, 132, 'start', [['Stick', ''], ['', 'up, down,'], ['', 'turns']]),
    };
    this.title = svg('title', {});
    this.root = svg(
      'svg', { viewBox: '-12 4 376 188', role: 'img' }, this.title,
      svg('path', { class: 'body', d: BODY }),
      ...Object.values(this.parts), ...this.sticks.map(({ drawn }) => drawn), ...buttons,
      svg('path', { class: 'leader', d: 'M99 27h10M99 47h5M70 84l38 5M70 136h61M253 27h-10M253 47h-5M282 128l-60 6' }),
      ...Object.values(this.words),
    );
  }

  // Writes the names that the maker of this gamepad gives its controls.
  name(id) {
    if (this.named === id) return;
    this.named = id;
    const names = namesOf(id);
    write(this.words.open, [[names.open, 'opens'], ['', 'the gripper']]);
    write(this.words.close, [[names.close, 'closes'], ['', 'the gripper']]);
    write(this.words.left, [[names.left, 'hold to drive']]);
    write(this.words.right, [[names.right, 'hold to drive']]);
    this.title.textContent = `Hold ${names.shoulders} to drive. The left stick moves the tool away, closer, left and right; the right stick moves it up and down and turns it; the cross tilts and rolls it. ${names.close} closes the gripper, ${names.open} opens it.`;
  }

  // sample: { axes, buttons } as sent; null while no gamepad is there.
  show(sample) {
    const axes = sample?.axes ?? [0, 0, 0, 0, 0, 0];
    const down = (index) => Boolean(sample && (sample.buttons & (1 << index)));
    this.sticks.forEach(({ knob }, index) => {
      const [x, y] = axes.slice(index * 2, index * 2 + 2);
      knob.setAttribute('transform', `translate(${(x * STICK).toFixed(1)} ${(y * STICK).toFixed(1)})`);
      knob.classList.toggle('lit', Math.hypot(x, y) > MOVED);
    });
    const lit = { open: down(6), close: down(7), left: down(4), right: down(5), cross: Boolean(axes[4] || axes[5]) };
    for (const [name, on] of Object.entries(lit)) this.parts[name].classList.toggle('lit', on);
  }
}
