// Live video: one figure a camera, the age of the picture that it shows, and how well it arrives.

import { pageNow } from '/clock.js';

const FREEZE_MS = 200;

class Camera {
  constructor(name, clock) {
    this.name = name;
    this.clock = clock;
    this.screen = null; // a video element or a canvas
    this.sink = null; // draws its pictures elsewhere, and not on the page
    this.shown = null; // newest picture on the screen
    this.ages = [];
    this.delays = []; // from a picture's arrival to the screen
    this.fps = 0;
    this.kbit_s = 0;
    this.dropped = 0;
    this.freezes = 0;
    this.frames = 0;
    this.figure = document.createElement('figure');
    this.figure.dataset.camera = name;
    const caption = document.createElement('figcaption');
    caption.textContent = name;
    this.figure.append(caption);
  }

  get knowsFrames() {
    return this.screen?.knowsFrames ?? true;
  }

  // Takes a new screen; the old one stays in sight until the new one has a picture.
  show(screen) {
    if (this.coming) this.remove(this.coming);
    this.coming = null;
    screen.sink = this.sink;
    screen.element.classList.add('screen');
    this.figure.prepend(screen.element);
    if (!this.screen || !screen.knowsFrames) {
      if (this.screen) this.remove(this.screen);
      this.screen = screen;
    } else {
      screen.element.classList.add('coming');
      this.coming = screen;
    }
  }

  remove(screen) {
    screen.close();
    screen.element.remove();
  }

  // Its pictures are drawn by a sink, such as a headset, and count as shown once that has drawn them; null: on the page.
  // A sink: take({ source, width, height, onDrawn(), close() }), and width_px, how wide it draws them.
  drawBy(sink) {
    this.sink = sink;
    for (const screen of [this.screen, this.coming]) if (screen) screen.sink = sink;
  }

  // A screen has drawn a picture.
  onShown(screen, { id, stamp_ms, sent_age_ms, received_ms }) {
    if (screen === this.coming) {
      this.remove(this.screen);
      screen.element.classList.remove('coming');
      this.screen = screen;
      this.coming = null;
    }
    if (screen !== this.screen) return;
    const at_ms = pageNow();
    if (this.shown && at_ms - this.shown.at_ms > FREEZE_MS) this.freezes += 1;
    this.frames += 1;
    const host_ms = this.clock.now();
    const age_ms = stamp_ms === null || host_ms === null ? null : host_ms - stamp_ms;
    if (age_ms !== null) {
      this.ages.push(age_ms);
      if (this.ages.length > 30) this.ages.shift();
    }
    if (received_ms !== null) {
      this.delays.push(at_ms - received_ms);
      if (this.delays.length > 30) this.delays.shift();
    }
    this.shown = { id, stamp_ms, sent_age_ms, received_ms, at_ms, age_ms };
    this.figure.dispatchEvent(new CustomEvent('shown', { detail: this.shown })); // for benchmarks
  }

  // Age of the picture on the screen: of late when it runs, growing when it stands.
  age_ms() {
    if (!this.shown || this.shown.stamp_ms === null) return null;
    const still_ms = pageNow() - this.shown.at_ms;
    if (still_ms > 500) return this.clock.now() - this.shown.stamp_ms;
    return median(this.ages);
  }

  // How long this device takes to show a picture that has come; null if that cannot be told.
  device_ms() {
    if (this.screen?.asksBrowser) return this.screen.decode_ms; // the rest of its way is the browser's wait for the network
    return median(this.delays);
  }

  sinceLastFrame_ms() {
    return this.shown ? pageNow() - this.shown.at_ms : Infinity;
  }

  isLive() {
    return this.knowsFrames ? this.sinceLastFrame_ms() < 1500 : this.screen.hasPicture;
  }

  close() {
    for (const screen of [this.screen, this.coming]) if (screen) this.remove(screen);
    this.figure.remove();
  }
}

export class Cameras {
  constructor(root, clock) {
    this.root = root;
    this.clock = clock;
    this.byName = new Map();
    this.main = null;
    this.lossDown = null;
    this.last_ms = pageNow();
  }

  setCameras(descriptions) {
    const names = descriptions.map((camera) => camera.name);
    for (const [name, camera] of this.byName) {
      if (!names.includes(name)) {
        camera.close();
        this.byName.delete(name);
      }
    }
    for (const { name, width, height } of descriptions) {
      if (!this.byName.has(name)) {
        const camera = new Camera(name, this.clock);
        const swap = document.createElement('button');
        swap.className = 'swap';
        swap.type = 'button';
        swap.tabIndex = -1;
        swap.title = `Show ${name} large`;
        swap.setAttribute('aria-label', swap.title);
        swap.addEventListener('click', () => {
          swap.blur(); // the space bar is the gripper's
          this.setMain(name);
        });
        camera.figure.append(swap);
        camera.swap = swap;
        this.byName.set(name, camera);
        this.root.append(camera.figure);
      }
      this.byName.get(name).figure.style.setProperty('--ratio', width / height);
      if (name === names[0]) this.root.style.setProperty('--ratio', width / height);
    }
    if (!this.byName.has(this.main)) this.main = names.includes('front') ? 'front' : names[0] ?? null;
    this.place();
  }

  setMain(name) {
    this.main = name;
    this.place();
  }

  place() {
    let place = 0;
    for (const [name, camera] of this.byName) {
      const main = name === this.main;
      camera.figure.className = main ? 'main' : 'inset';
      camera.figure.style.setProperty('--place', main ? 0 : place);
      camera.swap.hidden = main;
      if (!main) place += 1;
    }
  }

  // An RTP timestamp of a camera's track, and the capture time that it stands for.
  setAnchor({ camera, rtp_timestamp, stamp_ms }) {
    const found = this.byName.get(camera);
    for (const screen of [found?.screen, found?.coming]) if (screen && 'anchor' in screen) screen.anchor = { rtp: rtp_timestamp, stamp_ms };
  }

  // When a picture came to the screen last.
  get pictured_ms() {
    return Math.max(...[...this.byName.values()].map(({ shown }) => shown?.at_ms ?? -Infinity));
  }

  // The newest picture on the screen, for the record of what the operator saw.
  shownFrame() {
    const camera = this.byName.get(this.main);
    return camera?.shown ? (camera.shown.id === null ? null : [camera.name, camera.shown.id]) : null;
  }

  // Has the picture of the large camera stood for too long to drive by? (How old it is, the host judges by its own clock.)
  isStale(limit_ms) {
    const camera = this.byName.get(this.main);
    return Boolean(camera?.knowsFrames && camera.sinceLastFrame_ms() > limit_ms);
  }

  isLive() {
    return this.byName.size > 0 && [...this.byName.values()].every((camera) => camera.isLive());
  }

  // Once a second: what arrived.
  async measure(peer) {
    const now_ms = pageNow();
    const seconds = Math.max(0.2, (now_ms - this.last_ms) / 1000);
    this.last_ms = now_ms;
    const asksBrowser = [...this.byName.values()].some((camera) => camera.screen?.asksBrowser);
    const reports = peer && asksBrowser ? await peer.getStats() : new Map();
    let lost = 0;
    let received = 0;
    for (const camera of this.byName.values()) {
      const counts = camera.screen?.count(reports) ?? { bytes: 0, lost: 0, received: 0, dropped: 0 };
      camera.kbit_s = (counts.bytes * 8) / 1000 / seconds;
      camera.dropped = counts.dropped;
      lost += counts.lost;
      received += counts.received;
      camera.fps = camera.knowsFrames ? camera.frames / seconds : camera.screen.fps;
      camera.frames = 0;
    }
    this.lossDown = lost + received ? lost / (lost + received) : null;
  }

  report() {
    return [...this.byName.values()].map((camera) => ({
      name: camera.name,
      fps: round(Math.min(camera.fps, 1000)),
      frame_age_ms: round(camera.age_ms()),
      kbit_s: round(camera.kbit_s),
      dropped: camera.dropped,
      freezes: camera.freezes,
      shown_width: Math.min(Math.round(camera.sink?.width_px || camera.figure.clientWidth * devicePixelRatio), 65535),
    }));
  }
}

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? null;
}

function round(value) {
  return value === null || !Number.isFinite(value) ? null : Math.round(value * 10) / 10;
}
