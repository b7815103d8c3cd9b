// One device that drives one arm: its clutch, and what it sends. What takes the page's attention away, or ends control,
// lets go of the clutch; the arm moves again only with a fresh press.

import { pageNow } from '/clock.js';

const PERIOD_MS = 40; // a hand that keeps still is no silence
const FEWEST_MS = 15; // between two samples: the bridge lets 40 a second through
const RELEASES = 3; // a release that is lost on the way would cost the watchdog's time
const TAKING_CONTROL_MS = 1500; // how long the press that asks for control may wait for it
const COUNT_FROM = () => Math.floor(Date.now() / 100) % 2 ** 31; // a page that was loaded again counts on

export class DeviceStream {
  // device: its name for the bridge. driver: what the page says and knows, see driver.js.
  // onLetGo(reason): the clutch was let go of for a reason that is not the person's hand.
  constructor(device, driver, { onLetGo = () => {} } = {}) {
    Object.assign(this, { device, driver, onLetGo });
    this.part = ''; // for the only arm, or the first
    this.engaged = false;
    this.sequence = 0;
    this.clutchEpoch = COUNT_FROM();
    this.presses = 0;
    this.pressed_ms = -Infinity;
    this.state = { pose: null, axes: [], buttons: null, pressCounts: null, tracked: true, gripper: null, heading: 0, scale: null };
    this.sent_ms = -Infinity;
    this.timer = null;
    driver.add(this);
  }

  // Presses the clutch; returns whether it is pressed now.
  press() {
    if (this.engaged) return true;
    if (!this.driver.mayPress()) return false;
    this.engaged = true;
    this.clutchEpoch += 1;
    this.presses += 1;
    this.pressed_ms = pageNow();
    this.send();
    return true;
  }

  release() {
    if (!this.engaged) return;
    this.engaged = false;
    clearTimeout(this.timer);
    for (let count = 0; count < RELEASES; count += 1) setTimeout(() => { if (!this.engaged) this.say(); }, count * PERIOD_MS);
  }

  letGo(reason) {
    if (!this.engaged) return;
    this.release();
    this.onLetGo(reason);
  }

  // The newest state: any of pose, axes, buttons and their pressCounts, tracked, gripper, heading, and scale, if it is not
  // that of the settings. Without buttons of its own, a device has one: its clutch.
  update(state) {
    Object.assign(this.state, state);
    if (this.engaged && pageNow() - this.sent_ms >= FEWEST_MS) this.send();
  }

  // Control has come or gone.
  setInControl(inControl) {
    if (!this.engaged) return;
    if (!inControl) this.letGo('your control has ended');
    else if (pageNow() - this.pressed_ms > TAKING_CONTROL_MS) this.letGo('it was pressed before you had control');
    else this.send();
  }

  send() {
    clearTimeout(this.timer);
    this.say();
    if (this.engaged) this.timer = setTimeout(() => this.send(), PERIOD_MS);
  }

  say() {
    const { pose, axes, buttons, pressCounts, tracked, gripper, heading, scale } = this.state;
    this.sent_ms = pageNow();
    this.sequence += 1;
    this.driver.say({
      device: this.device,
      part: this.part,
      sequence: this.sequence,
      tracked,
      engaged: this.engaged,
      clutch_epoch: this.clutchEpoch,
      pose,
      axes,
      buttons: buttons ?? Number(this.engaged),
      press_counts: pressCounts ?? [this.presses],
      gripper,
      scale: scale ?? this.driver.settings.get('scale'),
    }, heading);
  }
}
