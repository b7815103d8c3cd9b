// One hand in a headset: its controller, and the arm that follows it while the grip is squeezed.

import { handState } from '/devices/vr_state.js';
import { VrController } from '/devices/vr_controller.js';

const NEAR = 0.15; // so near to the gripper's own place, the trigger takes it

export class VrHand {
  // page: see devices.js. give(sign): for the ear.
  constructor(name, page, give) {
    Object.assign(this, { name, page, give });
    this.controller = new VrController(name);
    this.stream = null; // of the arm that it drives, null for the hand that is free
    this.rest();
  }

  rest() {
    this.letGo = ''; // why the clutch was let go of, if it was not by the hand
    this.sign = 'rest';
    this.takenOver = false;
    this.wanted = null; // of the gripper, by the trigger in the last frame
    this.controller.lose();
  }

  drive(stream) {
    if (stream === this.stream) return;
    this.stream?.letGo('the hand drives another arm now');
    this.stream = stream;
  }

  get engaged() {
    return this.stream?.engaged ?? false;
  }

  // In each of the headset's frames. heading: of the person's forward [rad]; placed: the headset knows its own place. Returns
  // steps of the stick to the left.
  read(sources, frame, space, heading, placed) {
    const { controller, stream } = this;
    const { squeezed, steps } = controller.read(sources, frame, space, placed);
    if (!stream) return steps;
    if (this.engaged && controller.held === null) stream.letGo('the controller is gone');
    else if (this.engaged && !controller.held) this.release();
    const gripper = this.engaged ? this.gripper() : null;
    stream.update({ pose: controller.pose, tracked: controller.place === 'tracked', heading, gripper });
    if (squeezed) this.press();
    return steps;
  }

  press() {
    this.letGo = '';
    if (this.controller.place !== 'tracked') {
      this.feel('lost');
      return;
    }
    this.takenOver = false;
    this.wanted = 1 - this.controller.trigger;
    this.stream.update({ gripper: this.gripper() });
    const away = this.page.driver.page.away();
    if (this.stream.press()) this.feel('engaged');
    else if (away) this.letGo = `it was not taken up because ${away}`;
  }

  release() {
    this.stream.release();
    this.give('released');
  }

  // The trigger has the gripper once it has been where the gripper is: what is held does not fall when an arm is taken up.
  gripper() {
    const wanted = 1 - this.controller.trigger;
    const at = this.part?.gripper_target ?? null;
    this.takenOver ||= at === null || Math.abs(wanted - at) < NEAR || (this.wanted - at) * (wanted - at) < 0;
    this.wanted = wanted;
    return this.takenOver ? wanted : null;
  }

  // The clutch was let go of, and not by the hand: it takes a fresh press.
  onLetGo(reason) {
    this.letGo = `it was let go because ${reason}`;
    this.feel('lost');
  }

  get part() {
    const { step } = this.page.arm();
    return step?.parts.find(({ name }) => name === this.stream?.part) ?? step?.parts[0] ?? null;
  }

  // What the board says of it.
  state() {
    const { controller, stream } = this;
    const { motion, step } = this.page.arm();
    const { parts } = this.page.driver;
    const now = handState({
      hand: this.name, arm: parts.length > 1 ? stream.part : '', source: controller.place, held: Boolean(controller.held), takesGripper: !this.takenOver,
      engaged: this.engaged, letGo: this.letGo, motion, edge: step?.hold === 0 && motion.level === 'hold', part: this.part,
    });
    if (now.state !== this.sign && ['limit', 'lost'].includes(now.state)) this.feel(now.state);
    this.sign = now.state;
    return now;
  }

  // For hand and ear.
  feel(sign) {
    this.give(sign);
    this.buzz(sign);
  }

  buzz(sign) {
    if (this.page.settings.get('vibration')) this.controller.pulse(sign);
  }
}
