// Live video: one element a camera, the age of the picture that it shows, and how well it arrives.

import { pageNow } from '/clock.js';

const FREEZE_MS = 200;

class Camera {
  constructor(name, clock) {
    this.name = name;
    this.clock = clock;
    this.anchor = null; // an RTP timestamp and the capture time that it stands for
    this.shown = null; // newest picture on the screen
    this.ages = [];
    this.fps = 0;
    this.kbit_s = 0;
    this.dropped = 0;
    this.freezes = 0;
    this.frames = 0;
    this.knowsFrames = 'requestVideoFrameCallback' in HTMLVideoElement.prototype;
    this.figure = document.createElement('figure');
    this.video = document.createElement('video');
    Object.assign(this.video, { muted: true, autoplay: true, playsInline: true, disablePictureInPicture: true });
    this.video.setAttribute('playsinline', '');
    this.video.dataset.camera = name;
    const caption = document.createElement('figcaption');
    caption.textContent = name;
    this.figure.append(this.video, caption);
    if (this.knowsFrames) this.watchFrames();
  }

  show(track) {
    this.video.srcObject = new MediaStream([track]);
    this.video.play().catch(() => {});
    this.anchor = null;
  }

  watchFrames() {
    const onFrame = (now, metadata) => {
      this.video.requestVideoFrameCallback(onFrame);
      const at_ms = pageNow();
      if (this.shown && at_ms - this.shown.at_ms > FREEZE_MS) this.freezes += 1;
      this.frames += 1;
      const shown = { at_ms, rtp: metadata.rtpTimestamp, stamp_ms: null, age_ms: null };
      if (this.anchor && shown.rtp !== undefined) {
        shown.stamp_ms = this.anchor.stamp_ms + ((shown.rtp - this.anchor.rtp) | 0) / 90;
        const host_ms = this.clock.now();
        if (host_ms !== null) {
          shown.age_ms = host_ms - shown.stamp_ms;
          this.ages.push(shown.age_ms);
          if (this.ages.length > 30) this.ages.shift();
        }
      }
      this.shown = shown;
    };
    this.video.requestVideoFrameCallback(onFrame);
  }

  // Age of the picture on the screen: of late when it runs, growing when it stands.
  age_ms() {
    if (!this.shown || this.shown.stamp_ms === null) return null;
    const still_ms = pageNow() - this.shown.at_ms;
    if (still_ms > 500) return this.clock.now() - this.shown.stamp_ms;
    const sorted = [...this.ages].sort((a, b) => a - b);
    return sorted[sorted.length >> 1] ?? null;
  }

  sinceLastFrame_ms() {
    return this.shown ? pageNow() - this.shown.at_ms : Infinity;
  }
}

export class Cameras {
  constructor(root, clock) {
    this.root = root;
    this.clock = clock;
    this.byName = new Map();
    this.main = null;
    this.lossDown = null;
    this.last = new Map();
    this.last_ms = pageNow();
  }

  setCameras(descriptions) {
    const names = descriptions.map((camera) => camera.name);
    for (const [name, camera] of this.byName) {
      if (!names.includes(name)) {
        camera.figure.remove();
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

  setAnchor({ camera, rtp_timestamp, stamp_ms }) {
    const found = this.byName.get(camera);
    if (found) found.anchor = { rtp: rtp_timestamp, stamp_ms };
  }

  // The newest picture on the screen, for the record of what the operator saw.
  shownFrame() {
    const camera = this.byName.get(this.main);
    return camera?.shown?.rtp === undefined || !camera.shown ? null : [camera.name, camera.shown.rtp];
  }

  // Picture of the large camera: too old to drive by?
  isStale(limit_ms) {
    const camera = this.byName.get(this.main);
    return Boolean(camera && camera.knowsFrames && camera.sinceLastFrame_ms() > limit_ms);
  }

  isLive() {
    return this.byName.size > 0 && [...this.byName.values()].every((camera) => camera.knowsFrames
      ? camera.sinceLastFrame_ms() < 1500
      : camera.video.readyState >= 2);
  }

  // Once a second: what the receivers measured.
  async measure(connection) {
    const now_ms = pageNow();
    const seconds = Math.max(0.2, (now_ms - this.last_ms) / 1000);
    this.last_ms = now_ms;
    let lost = 0;
    let received = 0;
    const reports = connection ? await connection.getStats() : new Map();
    for (const report of reports.values()) {
      if (report.type !== 'inbound-rtp' || report.kind !== 'video') continue;
      const camera = [...this.byName.values()].find((one) => one.mid === report.mid);
      if (!camera) continue;
      const before = this.last.get(camera.name) ?? { bytes: 0, lost: 0, received: 0 };
      const bytes = report.bytesReceived ?? 0;
      camera.kbit_s = Math.max(0, ((bytes - before.bytes) * 8) / 1000 / seconds);
      camera.dropped = report.framesDropped ?? 0;
      lost += Math.max(0, (report.packetsLost ?? 0) - before.lost);
      received += Math.max(0, (report.packetsReceived ?? 0) - before.received);
      if (!camera.knowsFrames) camera.fps = report.framesPerSecond ?? 0;
      this.last.set(camera.name, { bytes, lost: report.packetsLost ?? 0, received: report.packetsReceived ?? 0 });
    }
    for (const camera of this.byName.values()) {
      if (camera.knowsFrames) {
        camera.fps = camera.frames / seconds;
        camera.frames = 0;
      }
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
    }));
  }
}

function round(value) {
  return value === null || !Number.isFinite(value) ? null : Math.round(value * 10) / 10;
}
