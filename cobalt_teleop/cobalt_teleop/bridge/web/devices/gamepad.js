// A gamepad, by the browser's Gamepad API. A shoulder button is its clutch: sticks move the arm while it is held.

import { DeviceStream } from '/devices/device_stream.js';
import { namesOf, plainName } from '/devices/gamepad_names.js';
import { GamepadPicture } from '/devices/gamepad_picture.js';
import { RateSection } from '/devices/rate_section.js';

const PERIOD_MS = 16;
const LOOK_MS = 500; // how often a gamepad is looked for while none is there
const SHOULDERS = [4, 5];
const [UP, DOWN, LEFT, RIGHT] = [12, 13, 14, 15];
const BUTTONS = 17; // of the standard layout

const AT_HAND = 'Keys and the buttons on this page work here.';

export function addGamepad(page) {
  const device = new GamepadDevice(page);
  const add = () => { if (!page.panel.devices.includes(device)) page.panel.add(device); };
  // On a phone or a tablet it is listed once a gamepad is there.
  if (matchMedia('(any-pointer: fine)').matches) add();
  addEventListener('gamepadconnected', add);
}

class GamepadDevice {
  name = 'gamepad';
  title = 'Gamepad';
  kind = 'rates';

  // page: see devices.js.
  constructor({ panel, driver, settings }) {
    Object.assign(this, { panel, driver, settings });
    this.section = new RateSection(this.name, { onArm: (name) => this.chooseArm(name) });
    this.root = this.section.root;
    this.picture = new GamepadPicture();
    this.section.body.append(this.picture.root);
    this.stream = new DeviceStream(this.name, driver, { onLetGo: (reason) => { this.why = `Let go: ${reason}.`; } });
    this.index = null; // of the gamepad that is used
    this.held = true; // a shoulder button that is down when a gamepad is found was not pressed to drive
    this.counts = Array(BUTTONS).fill(0);
    this.pressed = Array(BUTTONS).fill(false);
    this.why = ''; // it does not drive, in a sentence
    addEventListener('gamepaddisconnected', ({ gamepad }) => { if (gamepad.index === this.index) this.lose(); });
    this.step();
  }

  show() {}

  hide() {
    this.stream.letGo('another way to drive was chosen');
  }

  chooseArm(name) {
    this.stream.letGo('another arm was chosen');
    this.stream.part = name;
  }

  get api() {
    return typeof navigator.getGamepads === 'function';
  }

  get pads() {
    try {
      return [...navigator.getGamepads()].filter((pad) => pad?.connected);
    } catch {
      return []; // a policy forbids it
    }
  }

  step() {
    const pads = this.api ? this.pads : [];
    this.use(pads);
    const pad = pads.find(({ index }) => index === this.index);
    if (pad) this.take(pad);
    else if (this.index !== null) this.lose();
    if (!this.root.hidden) this.draw(pad);
    setTimeout(() => this.step(), pad ? PERIOD_MS : LOOK_MS);
  }

  // The first that can be understood is used, or another whose shoulder button is pressed.
  use(pads) {
    const usable = pads.filter(({ mapping }) => mapping === 'standard');
    this.foreign = usable.length ? null : pads[0] ?? null;
    const mine = usable.find(({ index }) => index === this.index);
    const isPressed = ({ buttons }) => SHOULDERS.some((at) => buttons[at]?.pressed);
    const other = mine && isPressed(mine) ? null : usable.find(isPressed);
    const next = other ?? mine ?? usable[0];
    if (!next || next === mine) return;
    this.stream.letGo('another gamepad was taken in hand');
    this.index = next.index;
    this.held = true;
    this.pressed = next.buttons.map(({ pressed }) => pressed);
  }

  lose() {
    this.stream.letGo('the gamepad was unplugged, or is out of reach');
    this.index = null;
    this.held = true;
  }

  take(pad) {
    const down = (at) => Boolean(pad.buttons[at]?.pressed);
    const axis = (at) => Math.max(-1, Math.min(1, Number.isFinite(pad.axes[at]) ? pad.axes[at] : 0));
    let buttons = 0;
    for (let at = 0; at < Math.min(BUTTONS, pad.buttons.length); at += 1) {
      if (down(at)) buttons |= 1 << at;
      if (down(at) && !this.pressed[at]) this.counts[at] += 1;
      this.pressed[at] = down(at);
    }
    this.sample = {
      axes: [axis(0), axis(1), axis(2), axis(3), down(RIGHT) - down(LEFT), down(DOWN) - down(UP)],
      buttons,
      pressCounts: [...this.counts],
      scale: this.settings.get('speed'),
    };
    const held = SHOULDERS.some(down);
    if (held && !this.held) this.press();
    else if (!held) this.stream.release();
    this.held = held;
    this.stream.update(this.sample);
  }

  press() {
    this.why = '';
    if (this.panel.chosen !== this) this.panel.choose(this);
    this.stream.update(this.sample);
    if (!this.stream.press()) this.why = `Not now: ${this.driver.page.away() || 'the arm is not yours to drive'}.`;
  }

  draw(pad) {
    const { section, stream } = this;
    const names = namesOf(pad?.id ?? '');
    section.showArms(this.driver.parts, stream.part || this.driver.parts[0]);
    this.picture.name(pad?.id ?? '');
    this.picture.show(pad ? this.sample : null);
    if (!this.api) {
      const why = isSecureContext ? 'Use Chrome, Edge, Firefox or Safari.' : 'It does so only for pages that are opened by https.';
      section.say('missing', 'This browser reads no gamepads.', `${why} ${AT_HAND}`);
    } else if (!pad && this.foreign) {
      section.say('wait', plainName(this.foreign.id), `This browser does not know its layout. Try Chrome or Edge, or another gamepad. ${AT_HAND}`);
    } else if (!pad) {
      section.say('wait', this.why ? 'The gamepad is gone' : 'No gamepad yet', 'Plug one in, or pair it by Bluetooth. Then press one of its buttons.');
    } else if (stream.engaged) {
      section.say('on', plainName(pad.id), `You drive. Let go of ${names.shoulders}, and the arm holds.`);
    } else if (this.why || this.held) {
      section.say('wait', plainName(pad.id), `${this.why} ${this.held ? `Let go of ${names.shoulders}, then hold it again.` : `Hold ${names.shoulders} to drive.`}`);
    } else {
      section.say('ready', plainName(pad.id), `Hold ${names.shoulders}, and move the sticks.`);
    }
  }
}
