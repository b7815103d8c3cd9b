// What one controller of a headset says in a frame: its place, its buttons, and how much of what the hand means is new.

import { continuous, poseFromXR } from './rotation.js'; // relative, for tests without a browser

const [TRIGGER, GRIP, UPPER] = [0, 1, 5]; // buttons of the layout 'xr-standard'; the upper one is B or Y
const [SQUEEZED, OPENED] = [0.6, 0.4]; // share of a grip's way: between them it stays as it was
const [PUSHED, CENTRED] = [0.7, 0.3]; // share of a stick's way
const SNAP = 0.05; // so near to an end, a trigger is at it
const PULSES = { engaged: [0.4, 30], limit: [0.5, 60], lost: [1.0, 250], turned: [0.3, 20] }; // strength, and for how long [ms]

export class VrController {
  // hand: left or right.
  constructor(hand) {
    this.hand = hand;
    this.turn = [0, 0, 0, 1];
    this.lose();
  }

  lose() {
    this.source = null;
    this.place = 'none'; // none, bare, lost or tracked, see vr_state.js
    this.pose = null; // as the device is told, null if it is not known
    this.matrix = null; // the last known one, in axes of WebXR
    this.held = null; // the grip is squeezed; null if it was not seen yet
    this.stick = null; // which way it is pushed; null if it was not seen yet
    this.trigger = 0;
    this.stopping = false; // the upper button is down
  }

  // What is held now was not pressed here: it takes a fresh press.
  settle() {
    this.held = this.stick = null;
  }

  // placed: the headset knows its own place. Returns what is new: { squeezed, steps }, steps of the stick to the left.
  read(sources, frame, space, placed) {
    const mine = [...sources].filter(({ handedness, gripSpace }) => handedness === this.hand && gripSpace);
    const source = mine.find(({ gamepad }) => gamepad?.buttons?.[GRIP]) ?? mine[0] ?? null;
    if (source !== this.source) {
      this.lose();
      this.source = source;
    }
    if (!source) return { squeezed: false, steps: 0 };
    if (!source.gamepad?.buttons?.[GRIP]) {
      this.lose();
      Object.assign(this, { source, place: 'bare' });
      return { squeezed: false, steps: 0 };
    }
    this.follow(placed ? frame.getPose(source.gripSpace, space) : null);
    return this.readButtons(source.gamepad);
  }

  follow(found) {
    if (!found || found.emulatedPosition) {
      this.place = 'lost';
      this.pose = null;
      return;
    }
    const pose = poseFromXR(found.transform);
    this.turn = continuous(pose.slice(3), this.turn);
    this.pose = [...pose.slice(0, 3), ...this.turn];
    this.matrix = found.transform.matrix;
    this.place = 'tracked';
  }

  readButtons({ buttons, axes }) {
    const before = { held: this.held, stick: this.stick };
    const grip = buttons[GRIP].value || Number(buttons[GRIP].pressed);
    if (this.held === null || grip > SQUEEZED || grip < OPENED) this.held = grip > (this.held ? OPENED : SQUEEZED);
    const aside = axes[2] || axes[0] || 0;
    if (this.stick === null || Math.abs(aside) > PUSHED) this.stick = Math.abs(aside) > CENTRED ? Math.sign(aside) : 0;
    else if (Math.abs(aside) < CENTRED) this.stick = 0;
    const { value } = buttons[TRIGGER];
    this.trigger = value < SNAP ? 0 : value > 1 - SNAP ? 1 : value;
    this.stopping = Boolean(buttons[UPPER]?.pressed);
    return { squeezed: this.held && before.held === false, steps: this.stick && before.stick === 0 ? -this.stick : 0 };
  }

  // sign: one of engaged, limit, lost, turned.
  pulse(sign) {
    const actuator = this.source?.gamepad?.hapticActuators?.[0];
    if (PULSES[sign]) actuator?.pulse?.(...PULSES[sign])?.catch?.(() => {}); // a controller that is gone feels nothing
  }
}
