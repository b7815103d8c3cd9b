// How late this page does what it does at a steady pace: a processor that is busy shows here, whatever the network does.

const KEPT = 30; // three seconds at the pace of the page's drawing

export class Pace {
  constructor(period_ms) {
    this.period_ms = period_ms;
    this.last_ms = null;
    this.late = [];
  }

  // The page does it once more. A hidden page is slowed down by its browser, which says nothing of the processor.
  beat(now_ms, hidden) {
    if (hidden || this.last_ms === null) {
      this.late = [];
    } else {
      this.late.push(Math.max(0, now_ms - this.last_ms - this.period_ms));
      if (this.late.length > KEPT) this.late.shift();
    }
    this.last_ms = hidden ? null : now_ms;
  }

  // On average; null until it is known.
  late_ms() {
    return this.late.length < KEPT ? null : this.late.reduce((a, b) => a + b, 0) / KEPT;
  }
}
