// A VR headset as a device: the pictures stand in its scene, and each hand moves an arm as it moves.

import { pageNow } from '/clock.js';
import { DeviceStream } from '/devices/device_stream.js';
import { Feedback } from '/devices/feedback.js';
import { pageWords } from '/devices/page_words.js';
import { poseFromXR, wrapped, yawOf } from '/devices/rotation.js';
import { VrHand } from '/devices/vr_hand.js';
import { VrScene } from '/devices/vr_scene.js';
import { VrSession } from '/devices/vr_session.js';
import { IS_HEADSET, supports } from '/devices/xr_support.js';
import { bannerWords, turnWords } from '/devices/vr_state.js';
import { makeVrView } from '/devices/vr_view.js';
import { set } from '/view.js';

const DRAWN_MS = 100;
const STEP_RAD = Math.PI / 12;
const STOP_MS = 600; // how long its button is held: what is pressed in passing stops nothing
const HANDS = ['left', 'right'];

const PHONE = /Android.+Mobile/.test(navigator.userAgent) && !IS_HEADSET; // a phone in a frame of cardboard has no controllers

const INSECURE = 'This page came by http, and so the browser withholds WebXR. On the robot’s computer, start with host:=0.0.0.0 and open the https link that it prints.';
const NO_WEBXR = 'This browser does not let pages into the headset: it has no WebXR. Open the page in the headset’s own browser, or in Wolvic. The buttons under "Keys" work here.';
const REFUSED = 'The browser was not allowed to enter VR. Press again and answer "Allow"; the browser’s site settings for this page have it, too.';

export async function addVr(page) {
  if (PHONE) return;
  const vr = new Vr(page);
  const look = async () => {
    vr.offered = { 'immersive-vr': await supports('immersive-vr'), 'immersive-ar': await supports('immersive-ar') };
    vr.draw();
    const there = vr.canEnter || IS_HEADSET;
    if (there === page.panel.devices.includes(vr) || vr.busy) return;
    if (!there) page.panel.remove(vr);
    else page.panel.add(vr);
    if (there && IS_HEADSET) page.panel.choose(vr);
  };
  navigator.xr?.addEventListener?.('devicechange', look); // a headset is plugged in, or out
  await look();
}

class Vr {
  name = 'vr';
  title = 'VR';
  kind = 'moves';

  // page: see devices.js.
  constructor(page) {
    this.page = page;
    this.view = makeVrView(document.querySelector('.card.keys'));
    this.root = this.view.root;
    this.offered = {};
    this.missing = '';
    this.starting = false;
    this.streams = new Map(); // by arm
    this.feedback = new Feedback(page.settings);
    this.hands = HANDS.map((name) => new VrHand(name, page, (sign) => this.feedback.give(sign)));
    this.xr = new VrSession({
      onFrame: (frame, space, layer) => this.onFrame(frame, space, layer),
      onReset: () => { this.heading = null; this.letGoAll('the headset has found a new place for itself'); },
      onAway: (reason) => this.letGoAll(reason),
      onBack: () => { for (const { controller } of this.hands) controller.settle(); },
      onEnd: () => this.ended(),
    });
    this.scene = null;
    this.heading = null; // yaw of the person's forward, in the axes of the room; null if it is not known
    this.start_yaw = 0;
    this.stop_ms = null; // since when the stop's button is held
    this.stopped = false;
    this.view.enter.addEventListener('click', () => this.enter('immersive-vr'));
    this.view.enterThrough.addEventListener('click', () => this.enter('immersive-ar'));
    this.view.leave.addEventListener('click', () => this.xr.stop());
    document.addEventListener('visibilitychange', () => { if (document.hidden) this.letGoAll('this page is hidden'); });
    page.settings.addEventListener('change', () => this.share());
    this.draw();
  }

  get canEnter() {
    return Object.values(this.offered).some(Boolean);
  }

  get busy() {
    return this.starting || this.scene !== null;
  }

  show() {
    this.draw();
  }

  hide() {
    this.xr.stop();
  }

  // A press has asked for it: only then do browsers let a page in.
  async enter(mode) {
    if (this.busy) return;
    this.starting = true;
    this.missing = '';
    this.feedback.start();
    try {
      const gl = await this.xr.start(mode);
      if (this.xr.session) this.begin(gl);
    } catch (error) {
      this.xr.stop();
      this.missing = ['NotAllowedError', 'SecurityError'].includes(error.name) ? REFUSED : `VR did not start: ${error.message}. Wake the headset and try again.`;
    }
    this.starting = false;
    this.draw();
  }

  begin(gl) {
    this.heading = null;
    this.stop_ms = null;
    for (const hand of this.hands) hand.rest();
    this.scene = new VrScene(gl, this.page.cameras);
    this.page.seenElsewhere(true);
    document.body.dataset.vr = 'in';
    this.share();
    this.say();
    this.timer = setInterval(() => {
      this.xr.watch();
      this.share();
      this.say();
    }, DRAWN_MS);
    this.xr.run();
  }

  ended() {
    clearInterval(this.timer);
    this.letGoAll('VR has ended');
    this.scene?.close();
    this.scene = null;
    this.page.seenElsewhere(false);
    this.feedback.stop();
    delete document.body.dataset.vr;
    this.draw();
  }

  letGoAll(reason) {
    for (const stream of this.streams.values()) stream.letGo(reason);
  }

  // Which hand drives which arm: each its own if there is a left one and a right one; one hand alone otherwise.
  share() {
    const { parts } = this.page.driver;
    const each = HANDS.every((name) => parts.includes(name));
    for (const hand of this.hands) {
      const alone = hand.name === this.page.settings.get('hand') && parts.length ? parts[0] : null;
      hand.drive(this.streamOf(each ? hand.name : alone));
    }
  }

  streamOf(part) {
    if (part === null) return null;
    if (!this.streams.has(part)) {
      const onLetGo = (reason) => this.hands.find(({ stream }) => stream === made)?.onLetGo(reason);
      const made = new DeviceStream('vr', this.page.driver, { onLetGo });
      made.part = part;
      this.streams.set(part, made);
    }
    return this.streams.get(part);
  }

  onFrame(frame, space, layer) {
    if (!this.scene) return;
    const viewer = frame.getViewerPose(space);
    const placed = viewer && !viewer.emulatedPosition;
    if (placed && this.heading === null) {
      this.heading = this.start_yaw = yawOf(poseFromXR(viewer.transform).slice(3));
      this.scene.centre(viewer.transform.matrix, this.heading);
    }
    let steps = 0;
    for (const hand of this.hands) steps += hand.read(frame.session.inputSources, frame, space, this.heading ?? 0, Boolean(placed));
    if (steps && this.heading !== null) this.turn(steps);
    this.stopIfHeld();
    if (!viewer || this.heading === null) return;
    const seen = this.hands.filter(({ controller }) => controller.matrix).map(({ controller, sign, stream }) => ({ matrix: controller.matrix, sign: stream ? sign : 'rest' }));
    this.scene.draw(viewer, layer, seen, this.xr.shinesThrough);
  }

  // Not while an arm follows a hand: it would go on along other axes than those seen.
  turn(steps) {
    const free = this.hands.every(({ engaged }) => !engaged);
    if (free) {
      this.heading = wrapped(this.heading + steps * STEP_RAD);
      this.scene.face(this.heading);
    }
    for (const hand of this.hands) if (hand.controller.stick) hand.buzz(free ? 'turned' : 'limit');
  }

  // The arms hold as soon as the stop's button is pressed; it stops for good when it is held.
  stopIfHeld() {
    if (!this.hands.some(({ controller }) => controller.stopping)) {
      this.stop_ms = null;
      this.stopped = false;
      return;
    }
    if (this.stop_ms === null) this.letGoAll('the emergency stop’s button was pressed');
    this.stop_ms ??= pageNow();
    if (this.stopped || pageNow() - this.stop_ms < STOP_MS) return;
    this.stopped = true;
    this.page.stop();
  }

  say() {
    if (!this.scene) return;
    const { motion } = this.page.arm();
    const driving = this.hands.filter(({ stream }) => stream);
    const hands = driving.map((hand) => ({ hand, ...hand.state() }));
    const stopping = this.stop_ms === null || this.stopped ? 0 : Math.min(1, (pageNow() - this.stop_ms) / STOP_MS);
    const stale = this.page.stale();
    set(this.view.state, 'textContent', hands.map(({ title, words }) => `${title}. ${words}`).join('\n'));
    this.scene.say({
      hands: hands.length ? hands.map(({ hand, state, title, words }) => ({ name: driving.length > 1 ? hand.stream.part : '', state, title, words }))
        : [{ name: '', state: 'absent', title: 'No arm is there', words: motion.words }],
      ...pageWords(),
      forward: turnWords(wrapped((this.heading ?? this.start_yaw) - this.start_yaw)),
    }, bannerWords({ hands, stopping, stale, motion }), stale);
  }

  draw() {
    const { view, offered, canEnter } = this;
    const inside = this.scene !== null;
    const missing = canEnter ? this.missing : isSecureContext ? NO_WEBXR : INSECURE;
    set(view.how, 'textContent', inside ? 'You drive in the headset. To come back, press "Leave VR", or the headset’s own button.'
      : 'Put the headset on and take a controller into each hand. The pictures stand before you, and the gripper moves as your hand does.');
    set(view.enter, 'hidden', inside || !offered['immersive-vr']);
    set(view.enterThrough, 'hidden', inside || !offered['immersive-ar']);
    set(view.leave, 'hidden', !inside);
    set(view.state, 'hidden', !inside);
    set(view.enter, 'disabled', this.starting);
    set(view.enterThrough, 'disabled', this.starting);
    set(view.missing, 'textContent', missing);
    set(view.controls, 'hidden', !canEnter);
  }
}
