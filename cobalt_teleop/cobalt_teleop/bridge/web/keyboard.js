// Which actions are asked for, by keys and by on-screen buttons. No key can stay stuck: whatever takes the page's
// attention away releases them all.

import { pageNow } from '/clock.js';

const ENGAGED_AFTER_MS = 500; // an engagement lasts until this long after the last key
const MOVING_PERIOD_MS = 40;
const TAKING_CONTROL_MS = 1500; // how long the press that asks for control may wait for it
const IDLE_PERIOD_MS = 200;
const LONGEST_INTRODUCTION_MS = 400; // a host that says nothing of the keys that are at rest is not waited for longer

export class Keyboard {
  // send(levels): called at each change, and again and again while moving or in control.
  // onPress(action): called at each fresh press. onRelease(reason): all keys were taken away.
  constructor({ send, onPress, onStop, onRelease }) {
    this.send = send;
    this.onPress = onPress;
    this.onStop = onStop;
    this.onRelease = onRelease;
    this.actions = [];
    this.byCode = new Map();
    this.sources = new Map(); // action index -> set of what holds it down
    this.pressCounts = [];
    this.clutchEpoch = 0;
    this.engaged = false;
    this.lastMotion_ms = -Infinity;
    this.pressed_ms = -Infinity;
    this.inControl = false;
    this.unattended = ''; // why keys are not taken, in words: nobody looks at this page,
    this.elsewhere = false; // unless the person sees all of it elsewhere, such as in a headset,
    this.cut = ''; // or nothing passes between it and the robot
    this.timer = null;
    this.introduced_ms = null; // until when keys are shown at rest to who has not heard of them yet
    this.listen();
  }

  setActions(actions, motionBits) {
    this.actions = actions;
    this.motionBits = motionBits;
    this.byCode = new Map(actions.flatMap((action, index) => action.codes.map((code) => [code, index])));
    if (this.pressCounts.length !== actions.length) this.pressCounts = actions.map(() => 0);
  }

  resume({ clutch_epoch, press_counts }) {
    this.clutchEpoch = Math.max(this.clutchEpoch, clutch_epoch);
    this.pressCounts = press_counts.map((count, index) => Math.max(count, this.pressCounts[index] ?? 0));
  }

  get buttons() {
    let bits = 0;
    for (const [index, holders] of this.sources) if (holders.size) bits |= 1 << index;
    return bits;
  }

  holds(index, holder) {
    return this.sources.get(index)?.has(holder) ?? false;
  }

  press(index, holder) {
    if (this.away) return;
    const holders = this.sources.get(index) ?? new Set();
    this.sources.set(index, holders);
    const fresh = holders.size === 0;
    holders.add(holder);
    if (!fresh) return;
    this.pressCounts[index] += 1;
    this.pressed_ms = pageNow();
    this.onPress(this.actions[index]);
    this.changed();
  }

  release(index, holder) {
    const holders = this.sources.get(index);
    if (!holders || !holders.delete(holder) || holders.size) return;
    this.changed();
  }

  releaseAll(reason) {
    const held = this.buttons !== 0 || this.engaged;
    this.sources.clear();
    this.lastMotion_ms = -Infinity;
    this.changed();
    if (held) this.onRelease(reason);
  }

  get away() {
    return (this.elsewhere ? '' : this.unattended) || this.cut;
  }

  // A key that was pressed meanwhile moves nothing when all is well again.
  setUnattended(reason) {
    if (reason === this.unattended) return;
    this.unattended = reason;
    if (reason) this.releaseAll(reason);
    else this.changed(); // the device node hears at once that keys count again
  }

  setCut(reason) {
    if (reason === this.cut) return;
    this.cut = reason;
    if (reason) this.releaseAll(reason);
    else this.changed();
  }

  setInControl(inControl) {
    if (inControl === this.inControl) return;
    this.inControl = inControl;
    if (inControl && this.buttons && pageNow() - this.pressed_ms > TAKING_CONTROL_MS) {
      // Held since before: it did not take control, and must not drive by it.
      this.releaseAll('they were held before you had control');
    } else if (inControl && this.buttons) {
      // The key that took control was down before the device node heard of it, and would have to be pressed again:
      // first it is shown keys at rest, until the host has heard of them.
      this.introduced_ms = pageNow() + LONGEST_INTRODUCTION_MS;
      this.introduce();
    } else {
      this.changed();
    }
  }

  introduce() {
    clearTimeout(this.timer);
    if (pageNow() > this.introduced_ms) {
      this.introduced_ms = null;
      this.step();
      return;
    }
    this.send({ buttons: 0, engaged: false, clutchEpoch: this.clutchEpoch, pressCounts: this.pressCounts });
    this.timer = setTimeout(() => this.introduce(), MOVING_PERIOD_MS);
  }

  // The host has heard that no key is pressed.
  noteRest() {
    if (this.introduced_ms === null) return;
    this.introduced_ms = null;
    this.changed();
  }

  changed() {
    if (this.introduced_ms !== null && this.buttons && this.inControl) return;
    this.introduced_ms = null;
    clearTimeout(this.timer);
    this.step();
  }

  step() {
    const buttons = this.buttons;
    const now_ms = pageNow();
    const gripper = this.actions.findIndex((action) => action.name === 'gripper');
    if (buttons & (this.motionBits | (1 << gripper))) this.lastMotion_ms = now_ms;
    const engaged = !this.away && now_ms - this.lastMotion_ms < ENGAGED_AFTER_MS;
    if (engaged && !this.engaged) this.clutchEpoch += 1;
    this.engaged = engaged;
    this.send({ buttons, engaged, clutchEpoch: this.clutchEpoch, pressCounts: this.pressCounts });
    if (engaged || buttons || this.inControl) {
      this.timer = setTimeout(() => this.step(), engaged || buttons ? MOVING_PERIOD_MS : IDLE_PERIOD_MS);
    }
  }

  listen() {
    addEventListener('keydown', (event) => this.onKeyDown(event), { capture: true });
    addEventListener('keyup', (event) => this.onKeyUp(event), { capture: true });
    const look = () => {
      if (document.visibilityState === 'hidden') this.setUnattended('this page is hidden');
      else if (!document.hasFocus()) this.setUnattended('this window is not in front; click it to drive');
      else this.setUnattended('');
    };
    addEventListener('blur', look);
    addEventListener('focus', look);
    addEventListener('pointerdown', look, { capture: true });
    document.addEventListener('visibilitychange', look);
    addEventListener('pagehide', () => this.releaseAll('the page is closed'));
    addEventListener('freeze', () => this.releaseAll('the page sleeps'));
    look();
  }

  onKeyDown(event) {
    if (event.code === 'Escape') {
      event.preventDefault();
      if (!event.repeat) this.onStop();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) {
      this.releaseAll('a shortcut was pressed');
      return;
    }
    const index = this.byCode.get(event.code);
    if (index === undefined || event.target.matches?.('input, select, textarea')) return;
    event.preventDefault();
    if (!event.repeat) this.press(index, event.code);
  }

  onKeyUp(event) {
    const index = this.byCode.get(event.code);
    if (index === undefined) return;
    event.preventDefault();
    this.release(index, event.code);
  }
}
