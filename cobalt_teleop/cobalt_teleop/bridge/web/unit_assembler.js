// Puts units of video together again from messages that may come late, twice or never (see video_units.py).
//
// Units leave in order. One with a hole holds back those behind it while its fragments are asked for again; a key frame
// behind the hole is taken at once, and a unit that does not come in time is given up for the next key frame.

const HEADER_BYTES = 21;
const REORDER_MS = 4; // a message may be overtaken by others for so long
const QUIET_MS = 12; // without a message for so long, a unit's last fragments are lost
const LATE_SHARE = 1.25; // of the usual time between units: then the next one is asked for
const RETRY_MS = 25;
const GIVE_UP_MS = 400;
const KEY_FRAME_RETRY_MS = 600;
const HISTORY = 64; // units between the newest and one that could still be waited for
const MOST_FRAGMENTS = 256; // that one request may name

export class UnitAssembler {
  // `onUnit` takes { id, stamp_ms, sent_age_ms, key, data }, `ask` a request for the server; `roundTrip_ms` may not know.
  constructor({ onUnit, ask, now, roundTrip_ms = () => null }) {
    Object.assign(this, { onUnit, ask, now, roundTrip_ms });
    this.units = new Map();
    this.next = null; // the unit that is due; null while a key frame is waited for
    this.newest = null;
    this.newest_ms = 0;
    this.interval_ms = null;
    this.keyAsked_ms = null; // by the server itself, at first
    this.received = 0; // messages
    this.missing = 0; // messages that had to be asked for
    this.givenUp = 0;
    this.bytes = 0;
    this.timer = null;
    this.stopped = false;
  }

  take(message) {
    if (this.stopped || message.byteLength <= HEADER_BYTES) return;
    const view = new DataView(message);
    const id = view.getUint32(12);
    const index = view.getUint16(16);
    const count = view.getUint16(18);
    this.received += 1;
    this.bytes += message.byteLength;
    if (index >= count || (this.next !== null && id < this.next)) return;
    const now_ms = this.now();
    this.keyAsked_ms ??= now_ms;
    if (this.newest === null || id > this.newest) this.noteNewest(id, now_ms);
    let unit = this.units.get(id);
    if (!unit || unit.parts === null) {
      unit = {
        id, stamp_ms: view.getFloat64(0), sent_age_ms: view.getFloat32(8), key: (view.getUint8(20) & 1) === 1,
        parts: new Array(count).fill(null), got: 0, last_ms: now_ms, suspected_ms: unit?.suspected_ms ?? null, asked_ms: unit?.asked_ms ?? null,
      };
      this.units.set(id, unit);
    }
    if (unit.parts.length !== count || unit.parts[index]) return;
    unit.parts[index] = new Uint8Array(message, HEADER_BYTES);
    unit.got += 1;
    unit.last_ms = now_ms;
    this.deliver();
    this.repair();
  }

  // Nothing before the next key frame is of use any more.
  skipToKeyFrame() {
    this.next = null;
    this.askKeyFrame();
    this.schedule();
  }

  stop() {
    clearTimeout(this.timer);
    this.stopped = true;
  }

  noteNewest(id, now_ms) {
    if (this.newest !== null) {
      for (let lost = this.newest + 1; lost < id && id - lost < HISTORY; lost += 1) {
        if (!this.units.has(lost)) this.units.set(lost, { id: lost, parts: null, got: 0, last_ms: now_ms, suspected_ms: null, asked_ms: null });
      }
      const interval_ms = (now_ms - this.newest_ms) / (id - this.newest);
      this.interval_ms = this.interval_ms === null ? interval_ms : this.interval_ms + (interval_ms - this.interval_ms) / 8;
    }
    this.newest = id;
    this.newest_ms = now_ms;
  }

  deliver() {
    // The newest whole key frame starts anew, whatever lies before it.
    for (const unit of this.units.values()) {
      if (unit.key && isWhole(unit) && (this.next === null || unit.id > this.next)) this.next = unit.id;
    }
    if (this.next === null) return;
    for (const id of this.units.keys()) if (id < this.next) this.units.delete(id);
    for (let unit = this.units.get(this.next); unit && isWhole(unit) && !this.stopped; unit = this.units.get(this.next)) {
      this.units.delete(unit.id);
      this.next = unit.id + 1;
      this.onUnit({ id: unit.id, stamp_ms: unit.stamp_ms, sent_age_ms: unit.sent_age_ms, key: unit.key, data: joined(unit.parts) });
      if (this.next === null) return; // the taker has asked for a key frame
    }
  }

  // Asks for what is missing, and gives up what is too late.
  repair() {
    if (this.newest === null || this.stopped) return;
    const now_ms = this.now();
    const retry_ms = Math.max(RETRY_MS, 1.5 * (this.roundTrip_ms() ?? 0));
    for (const unit of this.units.values()) {
      const missing = this.isOfUse(unit) ? this.missingOf(unit, now_ms) : null;
      if (missing === null) continue;
      unit.suspected_ms ??= now_ms;
      if (now_ms - unit.suspected_ms > GIVE_UP_MS) {
        this.givenUp += 1;
        this.units.delete(unit.id);
        this.skipToKeyFrame();
        return;
      }
      const due_ms = unit.asked_ms === null ? unit.suspected_ms + REORDER_MS : unit.asked_ms + retry_ms;
      if (now_ms >= due_ms) {
        if (unit.asked_ms === null) this.missing += Math.max(1, missing.length);
        unit.asked_ms = now_ms;
        this.ask({ type: 'missing', unit: unit.id, fragments: missing.slice(0, MOST_FRAGMENTS) });
      }
    }
    if (this.next !== null) this.askForLate(now_ms);
    else if (now_ms - this.keyAsked_ms > KEY_FRAME_RETRY_MS) this.askKeyFrame();
    this.dropOld();
    this.schedule();
  }

  // While a key frame is waited for, nothing else is worth a repair.
  isOfUse(unit) {
    return this.next !== null || (unit.parts !== null && unit.key);
  }

  // Indices of the fragments that are lost; empty for a whole unit of unknown size; null if nothing is.
  missingOf(unit, now_ms) {
    if (unit.parts === null) return [];
    if (isWhole(unit)) return null;
    const overtaken = unit.id < this.newest || now_ms - unit.last_ms >= QUIET_MS;
    const end = overtaken ? unit.parts.length : unit.parts.findLastIndex(Boolean);
    const missing = [];
    for (let index = 0; index < end; index += 1) if (!unit.parts[index]) missing.push(index);
    return missing.length ? missing : null;
  }

  // The unit after the newest is overdue: it may be lost as a whole. The server ignores this if it has none yet.
  askForLate(now_ms) {
    const id = this.newest + 1;
    if (this.interval_ms === null || this.late === id || now_ms < this.newest_ms + this.lateness_ms()) return;
    this.late = id;
    this.ask({ type: 'missing', unit: id, fragments: [] });
  }

  lateness_ms() {
    return this.interval_ms * LATE_SHARE + 5;
  }

  askKeyFrame() {
    this.keyAsked_ms = this.now();
    this.ask({ type: 'key_frame' });
  }

  dropOld() {
    for (const id of this.units.keys()) if (id < this.newest - HISTORY) this.units.delete(id);
  }

  schedule() {
    clearTimeout(this.timer);
    if (this.stopped) return;
    const holes = [...this.units.values()].some((unit) => this.isOfUse(unit) && !isWhole(unit));
    let wait_ms = holes ? 5 : KEY_FRAME_RETRY_MS;
    if (this.next !== null && this.interval_ms !== null && this.late !== this.newest + 1) {
      wait_ms = Math.min(wait_ms, Math.max(1, this.newest_ms + this.lateness_ms() - this.now()));
    }
    this.timer = setTimeout(() => this.repair(), wait_ms);
  }
}

function isWhole(unit) {
  return unit.parts !== null && unit.got === unit.parts.length;
}

function joined(parts) {
  if (parts.length === 1) return parts[0];
  const data = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part, at);
    at += part.length;
  }
  return data;
}
