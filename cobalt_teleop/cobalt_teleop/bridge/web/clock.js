// The host's clock, as far as this page can know it: the exchange with the shortest round trip tells best.

const KEPT = 24;

export function pageNow() {
  return performance.timeOrigin + performance.now();
}

export class HostClock {
  constructor() {
    this.exchanges = [];
    this.offset_ms = null; // host minus page
    this.uncertainty_ms = null;
    this.round_trip_ms = null; // of late, not the shortest
    this.newest_ms = -Infinity; // when the last exchange ended
  }

  addExchange(sent_ms, host_ms, received_ms) {
    const round_trip_ms = received_ms - sent_ms;
    if (round_trip_ms < 0 || round_trip_ms > 10000) return;
    this.newest_ms = received_ms;
    this.exchanges.push({ round_trip_ms, offset_ms: host_ms - (sent_ms + received_ms) / 2 });
    if (this.exchanges.length > KEPT) this.exchanges.shift();
    const best = this.exchanges.reduce((a, b) => (b.round_trip_ms < a.round_trip_ms ? b : a));
    this.offset_ms = best.offset_ms;
    this.uncertainty_ms = best.round_trip_ms / 2;
    const late = this.exchanges.slice(-7).map((e) => e.round_trip_ms).sort((a, b) => a - b);
    this.round_trip_ms = late[late.length >> 1];
  }

  sinceExchange_ms() {
    return pageNow() - this.newest_ms;
  }

  now() {
    return this.offset_ms === null ? null : pageNow() + this.offset_ms;
  }
}
