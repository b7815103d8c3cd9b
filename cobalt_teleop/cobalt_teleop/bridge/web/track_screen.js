// A camera's picture in a video element, fed by a WebRTC track.

import { pageNow } from '/clock.js';

export class TrackScreen {
  // `onShown` takes { id, stamp_ms } of each picture that is shown, if the browser tells.
  constructor(track, mid, onShown) {
    this.mid = mid; // media line, by which the browser's statistics name it
    this.onShown = onShown;
    this.anchor = null; // an RTP timestamp and the capture time that it stands for
    this.knowsFrames = 'requestVideoFrameCallback' in HTMLVideoElement.prototype;
    this.fps = 0; // where frames are not known
    this.asksBrowser = true; // for what arrived
    this.sink = null; // see Camera.drawBy
    this.decode_ms = null; // for a picture, of late
    this.counted = { bytes: 0, lost: 0, received: 0, decoded: 0, decode_s: 0 };
    this.element = document.createElement('video');
    Object.assign(this.element, { muted: true, autoplay: true, playsInline: true, disablePictureInPicture: true });
    this.element.setAttribute('playsinline', '');
    this.element.srcObject = new MediaStream([track]);
    this.element.play().catch(() => {});
    if (this.knowsFrames) this.element.requestVideoFrameCallback((now, metadata) => this.onFrame(metadata));
  }

  onFrame({ rtpTimestamp, receiveTime }) {
    if (!this.element.srcObject) return;
    this.element.requestVideoFrameCallback((now, metadata) => this.onFrame(metadata));
    const known = this.anchor && rtpTimestamp !== undefined;
    const shown = {
      id: rtpTimestamp ?? null,
      stamp_ms: known ? this.anchor.stamp_ms + ((rtpTimestamp - this.anchor.rtp) | 0) / 90 : null,
      sent_age_ms: null,
      received_ms: receiveTime === undefined ? pageNow() : performance.timeOrigin + receiveTime,
    };
    const { element: source } = this;
    if (this.sink) this.sink.take({ source, width: source.videoWidth, height: source.videoHeight, onDrawn: () => this.onShown(shown), close() {} });
    else this.onShown(shown);
  }

  get hasPicture() {
    return this.element.readyState >= 2;
  }

  // What came since the last call: { bytes, lost, received, dropped }.
  count(reports) {
    const report = [...reports.values()].find((one) => one.type === 'inbound-rtp' && one.kind === 'video' && one.mid === this.mid);
    if (!report) return { bytes: 0, lost: 0, received: 0, dropped: 0 };
    if (!this.knowsFrames) this.fps = report.framesPerSecond ?? 0;
    const before = this.counted;
    const now = {
      bytes: report.bytesReceived ?? 0, lost: report.packetsLost ?? 0, received: report.packetsReceived ?? 0,
      decoded: report.framesDecoded ?? 0, decode_s: report.totalDecodeTime ?? 0,
    };
    if (now.decoded > before.decoded) this.decode_ms = ((now.decode_s - before.decode_s) * 1000) / (now.decoded - before.decoded);
    this.counted = now;
    return {
      bytes: Math.max(0, now.bytes - before.bytes),
      lost: Math.max(0, now.lost - before.lost),
      received: Math.max(0, now.received - before.received),
      dropped: report.framesDropped ?? 0,
    };
  }

  close() {
    this.element.srcObject = null;
  }
}
