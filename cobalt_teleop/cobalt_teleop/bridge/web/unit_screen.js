// A camera's picture on a canvas: units from a data channel through a decoder of the page's own, past the video element.

import { pageNow } from '/clock.js';
import { UnitAssembler } from '/unit_assembler.js';

const MOST_IN_DECODER = 8;
const STILL_MS = 100; // so long at most a picture is left out for the next one, by a device that is behind
const PATIENCE_MS = 1500; // with a browser that does not answer what it can do

// Can this browser decode H.264 by itself?
export async function canDecodeUnits() {
  if (!('VideoDecoder' in globalThis) || !('EncodedVideoChunk' in globalThis)) return false;
  try {
    const answer = VideoDecoder.isConfigSupported({ codec: 'avc1.42E01F', optimizeForLatency: true });
    const patience = new Promise((resolve) => { setTimeout(resolve, PATIENCE_MS, { supported: false }); });
    return (await Promise.race([answer, patience])).supported === true;
  } catch {
    return false;
  }
}

export class UnitScreen {
  // `onShown` takes { id, stamp_ms } of each picture as it is drawn, `onFault` a sentence when the decoder gives up.
  constructor(channel, { onShown, onFault, roundTrip_ms }) {
    this.onShown = onShown;
    this.onFault = onFault;
    this.knowsFrames = true;
    this.hasPicture = false;
    this.sink = null; // see Camera.drawBy
    this.element = document.createElement('canvas');
    this.context = this.element.getContext('2d', { alpha: false, desynchronized: true });
    this.decoder = null;
    this.codec = '';
    this.inDecoder = new Map(); // capture and arrival times of the units that the decoder has, by their number
    this.dropped = 0;
    this.drawn_ms = -Infinity;
    this.counted = { bytes: 0, missing: 0, received: 0 };
    this.assembler = new UnitAssembler({
      onUnit: (unit) => this.decode(unit),
      ask: (request) => channel.readyState === 'open' && channel.send(JSON.stringify(request)),
      now: pageNow,
      roundTrip_ms,
    });
    channel.binaryType = 'arraybuffer';
    channel.onmessage = ({ data }) => this.assembler.take(data);
  }

  decode(unit) {
    try {
      if (unit.key) this.prepare(codecOf(unit.data));
      if (this.decoder?.state !== 'configured') return;
      if (this.decoder.decodeQueueSize > MOST_IN_DECODER) {
        // Newest wins: what waits in the decoder is too old to be seen.
        this.dropped += this.decoder.decodeQueueSize;
        this.decoder.reset();
        this.codec = '';
        this.inDecoder.clear();
        if (!unit.key) {
          this.assembler.skipToKeyFrame();
          return;
        }
        this.prepare(codecOf(unit.data));
      }
      this.inDecoder.set(unit.id, { stamp_ms: unit.stamp_ms, sent_age_ms: unit.sent_age_ms, received_ms: pageNow() });
      this.decoder.decode(new EncodedVideoChunk({ type: unit.key ? 'key' : 'delta', timestamp: unit.id, data: unit.data }));
    } catch (error) {
      this.fail(error);
    }
  }

  prepare(codec) {
    if (this.decoder === null) {
      this.decoder = new VideoDecoder({ output: (frame) => this.draw(frame), error: (error) => this.fail(error) });
    }
    if (codec === this.codec) return;
    this.codec = codec;
    this.decoder.configure({ codec, optimizeForLatency: true });
  }

  draw(frame) {
    const now_ms = pageNow();
    if (this.decoder?.decodeQueueSize && now_ms - this.drawn_ms < STILL_MS) {
      this.dropped += 1;
      frame.close();
      return;
    }
    this.drawn_ms = now_ms;
    const { timestamp: id, displayWidth: width, displayHeight: height } = frame;
    const times = this.inDecoder.get(id) ?? { stamp_ms: null, sent_age_ms: null, received_ms: null };
    for (const older of this.inDecoder.keys()) if (older <= id) this.inDecoder.delete(older);
    this.hasPicture = true;
    if (this.sink) {
      this.sink.take({ source: frame, width, height, onDrawn: () => this.onShown({ id, ...times }), close: () => frame.close() });
      return;
    }
    const { element } = this;
    if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
    this.context.drawImage(frame, 0, 0, width, height);
    frame.close();
    this.onShown({ id, ...times });
  }

  fail(error) {
    const { onFault } = this;
    this.close();
    onFault(`the decoder stopped: ${error.message}`);
  }

  // What came since the last call: { bytes, lost, received, dropped }.
  count() {
    const { bytes, missing, received } = this.assembler;
    const before = this.counted;
    this.counted = { bytes, missing, received };
    return { bytes: bytes - before.bytes, lost: missing - before.missing, received: received - before.received, dropped: this.dropped };
  }

  close() {
    this.assembler.stop();
    this.onFault = () => {};
    if (this.decoder && this.decoder.state !== 'closed') this.decoder.close();
    this.decoder = null;
  }
}

// The codec's name out of the SPS with which a key frame begins.
function codecOf(data) {
  for (let at = 0; at + 7 < data.length; at += 1) {
    if (data[at] === 0 && data[at + 1] === 0 && data[at + 2] === 1 && (data[at + 3] & 0x1f) === 7) {
      return `avc1.${[...data.subarray(at + 4, at + 7)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
    }
  }
  throw new Error('a key frame came without its parameters');
}
