// The phone as a device: it moves the arm as a hand moves the phone, or as far as this phone can tell.

import { pageNow } from '/clock.js';
import { DeviceStream } from '/devices/device_stream.js';
import { Feedback } from '/devices/feedback.js';
import { GripperSlide } from '/devices/gripper_slide.js';
import { Orientation } from '/devices/orientation.js';
import { AR_FAILED, AR_REFUSED, HAS_TOUCH, IS_HANDHELD, NO_SENSORS, SENSORS_REFUSED, findRoute } from '/devices/phone_routes.js';
import { forwardWords, padState } from '/devices/phone_state.js';
import { PhoneTouch } from '/devices/phone_touch.js';
import { makePhoneView } from '/devices/phone_view.js';
import { PhoneXR } from '/devices/phone_xr.js';
import { continuous, rotate, wrapped, yawOf } from '/devices/rotation.js';
import { clickWithSecondFinger } from '/devices/second_finger.js';
import { WakeLock } from '/devices/wake_lock.js';
import { isCompanion } from '/token.js';
import { set } from '/view.js';

const DRAWN_MS = 100;
const GRIPPER_TOLD_MS = 200; // the gripper's last place is told for so long: a sample may be lost
const LIMIT_SHOWN_MS = 500; // a limit that comes and goes is one
const UNTURNED = [0, 0, 0, 1];
const SCALES = [[1, '1 : 1'], [0.5, '1 : 2'], [0.25, '1 : 4']];

const SEEN_BESIDE = 'The pictures are on the other screen. ';

const WORDS = {
  ar: { how: 'Move your phone, and the gripper moves and turns as your hand does. The phone finds its place with its camera; that picture stays on the phone.', go: 'Drive by moving the phone' },
  sensors: { how: 'Drag on the screen to move the gripper, and turn the phone to turn it.', go: 'Start driving' },
  touch: { how: 'Drag on the screen to move the gripper. To turn it, take the keys.', go: 'Start driving' },
};

export function addPhone(page) {
  if (!HAS_TOUCH) return;
  const phone = new Phone(page);
  page.panel.add(phone);
  if (IS_HANDHELD) page.panel.choose(phone);
}

class Phone {
  name = 'phone';
  title = IS_HANDHELD ? 'Phone' : 'Touch';
  kind = 'moves';

  // page: see devices.js.
  constructor(page) {
    this.page = page;
    this.view = makePhoneView(document.querySelector('.card.keys'));
    this.root = this.view.root;
    this.best = 'touch'; // the best route of this browser, and the one that is driven
    this.route = null;
    this.lacking = ''; // what this browser lacks, in words; and what was missing at the last start
    this.missing = '';
    this.stream = new DeviceStream('phone', page.driver, { onLetGo: (reason) => this.onLetGo(reason) });
    this.feedback = new Feedback(page.settings);
    this.wakeLock = new WakeLock();
    this.xr = new PhoneXR({
      onPose: (pose) => this.onPose(pose),
      onLost: () => this.onLost(),
      onReset: () => { this.heading = null; this.stream.letGo('the phone has found a new place for itself'); },
      onHidden: () => this.stream.letGo('something else lies over this page'),
      onEnd: () => this.stop(),
    });
    this.orientation = new Orientation((turn) => this.onTurn(turn));
    this.touch = new PhoneTouch({
      pad: this.view.pad,
      strip: this.view.strip,
      onPress: () => this.press(),
      onMove: (way) => this.onDrag(way),
      onRelease: () => this.release(),
    });
    this.slide = new GripperSlide(this.view.gripper, {
      onGrip: () => this.grip(),
      onValue: (gripper) => this.stream.update({ gripper }),
      onLeave: () => { this.gripping = setTimeout(() => this.leaveGripper(), GRIPPER_TOLD_MS); },
    });
    this.starting = false;
    this.timer = null;
    this.reset();
    this.listen();
    this.draw();
    findRoute().then(({ route, missing }) => {
      Object.assign(this, { best: route, lacking: missing, missing });
      this.draw();
    });
  }

  reset() {
    this.place = [0, 0, 0];
    this.turn = UNTURNED;
    this.tracked = true;
    this.turns = true; // turns of the phone turn the gripper
    this.heading = null; // yaw of the person's forward, in the axes in which the phone's place is told; null if unknown
    this.moving = false; // the surface is held, and the arm follows
    this.gripping = null; // the slide is held, or what is told of it is not yet over
    this.letGo = '';
    this.sign = 'rest'; // what the surface shows
    this.limit = { until_ms: -Infinity };
  }

  listen() {
    const { view, page } = this;
    view.go.addEventListener('click', () => this.start(this.best));
    view.touchInstead.addEventListener('click', () => this.start(window.DeviceOrientationEvent && isSecureContext ? 'sensors' : 'touch'));
    view.done.addEventListener('click', () => this.stop());
    view.forward.addEventListener('click', () => this.pointForward());
    view.turning.addEventListener('click', () => this.setTurns(!this.turns));
    view.scale.addEventListener('click', () => {
      const at = SCALES.findIndex(([scale]) => scale === page.settings.get('scale'));
      page.settings.set('scale', SCALES[(at + 1) % SCALES.length][0]);
    });
    clickWithSecondFinger(() => this.touch.held, document.getElementById('stop'));
    page.settings.addEventListener('change', () => this.draw());
    document.addEventListener('visibilitychange', () => { if (document.hidden) this.stream.letGo('this page is hidden'); });
    (screen.orientation ?? window).addEventListener(screen.orientation ? 'change' : 'orientationchange', () => this.stream.letGo('the screen was turned'));
  }

  show() {
    this.draw();
    this.timer = setInterval(() => {
      this.xr.watch();
      this.draw();
    }, DRAWN_MS);
  }

  hide() {
    clearInterval(this.timer);
    this.stop();
  }

  // A tap has asked for it: only then do browsers grant AR, sensors and sound.
  async start(route) {
    if (this.route || this.starting) return;
    this.starting = true;
    this.route = await this.begin(route);
    this.starting = false;
    if (!this.route) return;
    if (this.page.panel.chosen !== this) { // another device was chosen meanwhile
      this.stop();
      return;
    }
    if (this.route !== route) this.page.notice(this.missing, 'info');
    if (this.route === 'touch') this.heading = 0;
    this.page.seenElsewhere(this.route === 'ar'); // the session tells by itself what lies over it
    this.wakeLock.start();
    document.body.dataset.phone = 'driving';
    scrollTo(0, 0);
    this.draw();
  }

  // Returns the route that has come about, or null; says what is missing.
  async begin(route) {
    this.reset();
    this.missing = this.lacking;
    this.feedback.start();
    if (route === 'ar') {
      this.tracked = false; // until the first frame says otherwise
      try {
        await this.xr.start(document.body);
      } catch (error) {
        this.missing = ['NotAllowedError', 'SecurityError'].includes(error.name) ? AR_REFUSED : `${AR_FAILED} (${error.message})`;
        return null;
      }
    }
    if (route === 'ar') return this.xr.session && route; // it may have ended at once
    if (route === 'touch') return route;
    const answer = await this.orientation.start();
    if (answer === 'yes') return route;
    this.missing = answer === 'refused' ? SENSORS_REFUSED : NO_SENSORS;
    return 'touch';
  }

  stop() {
    if (!this.route) return;
    this.stream.release();
    this.stream.update({ gripper: null });
    this.route = null;
    this.page.seenElsewhere(false);
    this.xr.stop();
    this.orientation.stop();
    this.wakeLock.stop();
    this.feedback.stop();
    delete document.body.dataset.phone;
    this.draw();
  }

  onPose(pose) {
    this.place = pose.slice(0, 3);
    this.turn = continuous(pose.slice(3), this.turn);
    this.tracked = true;
    this.heading ??= yawOf(this.turn);
    this.tell();
  }

  onLost() {
    if (!this.tracked) return;
    this.tracked = false;
    this.tell();
  }

  onTurn(turn) {
    this.heading ??= yawOf(turn);
    this.sensed = turn;
    if (this.turns) this.turn = turn;
    this.tell();
  }

  // Fingers move along the person's axes; places are told in those of the phone.
  onDrag({ forward, left, up }) {
    if (this.route === 'ar' || !this.moving) return;
    const half = (this.heading ?? 0) / 2;
    const way = rotate([0, 0, Math.sin(half), Math.cos(half)], [forward, left, up]);
    this.place = this.place.map((value, axis) => value + way[axis]);
    this.tell();
  }

  press() {
    this.letGo = '';
    if (!this.tracked) {
      this.feedback.give('lost');
      return;
    }
    this.stream.release(); // the gripper may be on its way: the arm is anchored anew
    this.moving = true;
    this.tell();
    if (this.stream.press()) this.feedback.give('engaged');
    else this.moving = false;
    this.drawDriving();
  }

  release() {
    if (this.moving) {
      this.moving = false;
      this.stream.release();
      this.feedback.give('released');
      if (this.slide.held) this.grip();
    }
    this.drawDriving();
  }

  // The gripper moves alone, too: the clutch is pressed for it, and the arm stays where it is.
  grip() {
    clearTimeout(this.gripping);
    this.gripping ??= true;
    if (!this.stream.engaged) {
      this.tell();
      this.stream.press();
    }
  }

  leaveGripper() {
    this.gripping = null;
    this.stream.update({ gripper: null });
    if (!this.moving) this.stream.release();
  }

  // The clutch was let go of, and not by the hand: it takes a fresh press.
  onLetGo(reason) {
    this.letGo = `it was let go because ${reason}`;
    this.moving = false;
    this.stream.update({ gripper: null });
    this.feedback.give('lost');
    this.drawDriving();
  }

  tell() {
    if (this.moving) {
      this.stream.update({ pose: [...this.place, ...this.turn], tracked: this.tracked, heading: this.heading ?? 0 });
    } else if (!this.stream.engaged) {
      this.stream.update({ pose: [0, 0, 0, ...UNTURNED], tracked: true, heading: 0 }); // what the gripper moves with
    }
  }

  pointForward() {
    const turn = this.route === 'ar' ? this.turn : this.sensed;
    if (!this.tracked || !turn) return;
    this.stream.letGo('forward was set anew');
    this.heading = yawOf(turn);
    this.feedback.give('engaged');
    this.drawDriving();
  }

  setTurns(turns) {
    this.stream.letGo('turning was switched'); // the gripper must not leap to how the phone has been turned meanwhile
    this.turns = turns;
    if (turns) this.turn = this.sensed;
    this.draw();
  }

  chooseArm(name) {
    this.stream.letGo('another arm was chosen');
    this.stream.part = name;
    this.draw();
  }

  draw() {
    const { view, route, page, best } = this;
    set(view.root.dataset, 'hand', page.settings.get('hand'));
    set(view.root.dataset, 'route', route ?? best);
    set(view.before, 'hidden', route !== null);
    set(view.driving, 'hidden', route === null);
    const bar = page.bar();
    set(view.how, 'textContent', bar ? `You watch: ${bar}` : `${isCompanion() ? SEEN_BESIDE : ''}${WORDS[best].how}`);
    set(view.go, 'hidden', Boolean(bar));
    set(view.go, 'textContent', WORDS[best].go);
    set(view.touchInstead, 'hidden', best !== 'ar' || Boolean(bar));
    set(view.missing, 'textContent', bar ? '' : this.missing);
    set(view.turning, 'hidden', route !== 'sensors');
    set(view.turningWords, 'textContent', this.turns ? 'on' : 'off');
    view.turning.setAttribute('aria-pressed', String(this.turns));
    set(view.forward, 'hidden', route === 'touch');
    set(view.height, 'hidden', route === 'ar');
    set(view.scale, 'textContent', SCALES.find(([scale]) => scale === page.settings.get('scale'))[1]);
    view.scale.title = 'A way of your hand, to the way of the arm';
    this.drawArms();
    if (route) this.drawDriving();
  }

  drawArms() {
    const { parts } = this.page.driver;
    const { arm } = this.view;
    set(arm, 'hidden', parts.length < 2);
    const chosen = this.stream.part || parts[0];
    const key = `${parts.join('\n')}\n\n${chosen}`;
    if (arm.dataset.key === key) return;
    arm.dataset.key = key;
    arm.replaceChildren(...parts.map((name) => {
      const choice = document.createElement('button');
      Object.assign(choice, { type: 'button', role: 'radio', textContent: `${name[0].toUpperCase()}${name.slice(1)} arm` });
      choice.setAttribute('aria-checked', String(name === chosen));
      choice.addEventListener('click', () => this.chooseArm(name));
      return choice;
    }));
  }

  drawDriving() {
    const { view, route } = this;
    if (!route) return;
    const { motion, step } = this.page.arm();
    const part = step?.parts.find(({ name }) => name === this.stream.part) ?? step?.parts[0] ?? null;
    const now = padState({
      route, held: this.touch.held, engaged: this.stream.engaged, letGo: this.letGo, tracked: this.tracked,
      bar: this.page.bar(), motion, edge: step?.hold === 0 && motion.level === 'hold', part,
    });
    if (now.state === 'limit') this.limit = { ...now, until_ms: pageNow() + LIMIT_SHOWN_MS };
    const { state, title, words } = now.state === 'moving' && pageNow() < this.limit.until_ms ? this.limit : now;
    if (state !== this.sign && ['limit', 'lost'].includes(state)) this.feedback.give(state);
    this.sign = state;
    set(view.pad.dataset, 'state', state);
    set(view.padTitle, 'textContent', title);
    set(view.padWords, 'textContent', words);
    this.slide.show(part?.gripper_target ?? null);
    const turn = route === 'ar' ? this.turn : this.sensed;
    if (route === 'touch' || this.heading === null || !turn) return;
    const off = wrapped(this.heading - yawOf(turn));
    view.forward.style.setProperty('--off', `${-off}rad`);
    set(view.forwardWords, 'textContent', `Forward: ${forwardWords(off)}`);
  }
}
