// How good the link is, in a word and a sentence that says what to do. Nothing here touches the page.

const WINDOW_MS = 30_000;
const ANSWER_MS = 2000; // a ping without an answer for this long is lost
const SILENT_MS = 1000;

// What pings and pictures of the last half minute tell.
export class LinkMeter {
  constructor() {
    this.sent = new Map(); // id -> when
    this.trips = []; // { at_ms, round_trip_ms }
    this.lost = []; // when
    this.freezes = []; // when
    this.knownFreezes = null;
  }

  onPing(id, now_ms) {
    this.sent.set(id, now_ms);
  }

  onPong(id, now_ms) {
    const sent_ms = this.sent.get(id);
    if (sent_ms === undefined) return;
    this.sent.delete(id);
    this.trips.push({ at_ms: now_ms, round_trip_ms: now_ms - sent_ms });
  }

  // `count`: of all freezes so far.
  onFreezes(count, now_ms) {
    for (let more = count - (this.knownFreezes ?? count); more > 0; more -= 1) this.freezes.push(now_ms);
    this.knownFreezes = count;
  }

  // A new connection: what was under way is not lost, it was given up.
  restart() {
    this.sent.clear();
    this.knownFreezes = null;
  }

  read(now_ms) {
    for (const [id, sent_ms] of this.sent) {
      if (now_ms - sent_ms > ANSWER_MS) {
        this.sent.delete(id);
        this.lost.push(now_ms);
      }
    }
    const since_ms = now_ms - WINDOW_MS;
    this.trips = this.trips.filter(({ at_ms }) => at_ms > since_ms);
    this.lost = this.lost.filter((at_ms) => at_ms > since_ms);
    this.freezes = this.freezes.filter((at_ms) => at_ms > since_ms);
    const trips = this.trips.map(({ round_trip_ms }) => round_trip_ms);
    const changes = trips.slice(1).map((trip, index) => Math.abs(trip - trips[index]));
    const counted = trips.length + this.lost.length;
    return {
      rtt_ms: trips.length ? [...trips].sort((a, b) => a - b)[trips.length >> 1] : null,
      jitter_ms: changes.length ? changes.reduce((a, b) => a + b, 0) / changes.length : null,
      // A ping is lost on either of two ways.
      loss: counted >= 10 ? 1 - Math.sqrt(trips.length / counted) : null,
      freezes: this.freezes.length,
    };
  }
}

const LEVELS = ['good', 'fair', 'poor'];
const WORDS = { good: 'Good', fair: 'Fair', poor: 'Poor', lost: 'Lost', unknown: '–' };
const WIRE = 'Use a cable instead of Wi-Fi, or come closer to the access point.';
const BUSY = 'Pause downloads and calls on this network.';

// A device that draws late also answers late and stands still: what it does then says nothing of the network.
const DEVICE = ['device_ms', 50, 200, (value) => `This device is about ${Math.round(value)} ms late with what it has to do: its processor is busy. Close other programs and tabs, and plug its charger in.`];

// From what is at its limit: value, limits of fair and poor, what is seen, and what to do if the network does it.
const RULES = [
  DEVICE,
  ['loss', 0.02, 0.08, (value) => `About ${Math.round(value * 100)} of 100 messages are lost.`, WIRE],
  ['freezes', 2, 8, (value) => `The picture stood still ${value} times in half a minute.`, WIRE],
  ['jitter_ms', 40, 120, () => 'Answers come in bursts.', WIRE],
  ['age_ms', 200, 450, (value) => `What you see is ${Math.round(value)} ms old: move slowly.`, BUSY],
  ['rtt_ms', 200, 450, (value) => `A command and its answer take ${Math.round(value)} ms: move slowly.`, BUSY],
];

// The network is in order if it loses nothing, and answers soon and steadily: what is late then was made late.
const [SOME_LOSS, SOON_MS, STEADY_MS] = [0.02, 50, 20];
const SOME_TICKS = 0.02;

// Which computer makes things late that the network could have; empty if it is the network.
function busyComputer(cause, { own_machine, missed, loss, rtt_ms, jitter_ms }) {
  if (own_machine) return 'This computer is too busy. Close other programs on it, or run fewer workcells or smaller pictures.';
  if (cause === 'loss' || (loss ?? 0) > SOME_LOSS) return '';
  const orderly = rtt_ms < SOON_MS && (jitter_ms ?? 0) < STEADY_MS;
  return orderly || (missed ?? 0) > SOME_TICKS
    ? "The robot's computer is too busy. On it, close other programs, or run fewer workcells or smaller pictures." : '';
}

// What lowers the quality, in a few words, for whoever looks from elsewhere.
const CAUSES = {
  '': '', silent: 'nothing arrives', device_ms: 'that device is busy', loss: 'messages are lost', freezes: 'the picture stops now and then', computer: "the robot's computer is busy", jitter_ms: 'data comes in bursts',
  age_ms: 'the picture is old', rtt_ms: 'the way is long',
};

// What a page tells of its link, in a few words.
export function qualityWords({ level, cause }) {
  if (!(level in WORDS) || level === 'unknown') return '';
  return `link ${WORDS[level].toLowerCase()}${CAUSES[cause] ? `: ${CAUSES[cause]}` : ''}`;
}

const MISSED_MS = 30_000;

// Share of the control ticks of the last half minute that the robot's computer has missed; null until it is known.
export class TickMeter {
  constructor() {
    this.counts = []; // { at_ms, missed }
  }

  // missed: of all ticks since the host started.
  onStep(missed, now_ms) {
    const last = this.counts.at(-1);
    if (last && missed < last.missed) this.counts = []; // it has started anew
    if (last && now_ms - last.at_ms < 1000) return;
    this.counts.push({ at_ms: now_ms, missed });
    while (this.counts[0].at_ms < now_ms - MISSED_MS) this.counts.shift();
  }

  share(rate_hz) {
    const [first, last] = [this.counts[0], this.counts.at(-1)];
    const ticks = first ? ((last.at_ms - first.at_ms) / 1000) * rate_hz : 0;
    return ticks > 0 ? Math.min(1, (last.missed - first.missed) / ticks) : null;
  }
}

function levelOf(value, [, fair, poor]) {
  return value >= poor ? 'poor' : value >= fair ? 'fair' : 'good';
}

// Args: silent_ms since anything came; rtt_ms, jitter_ms, loss (0 to 1), age_ms, freezes (in half a minute), device_ms that
// this device is late with pictures or with its timers, missed (0 to 1) of the control ticks, each null if unknown;
// own_machine: the page is open on the robot's computer itself. Returns level, cause, word and text.
export function linkQuality({ silent_ms, ...measured }) {
  if (silent_ms > SILENT_MS) {
    return {
      level: 'lost',
      cause: 'silent',
      word: WORDS.lost,
      text: `Nothing has come for ${Math.round(silent_ms / 1000)} s. The arm holds. ${measured.own_machine ? 'This computer is too busy, or what runs the arm has ended' : "Look at this device's network"}; the page goes on by itself.`,
    };
  }
  if (measured.rtt_ms === null) return { level: 'unknown', cause: '', word: WORDS.unknown, text: 'Not enough has been measured yet.' };
  const device_ms = measured.device_ms ?? 0;
  const busy = levelOf(device_ms, DEVICE) !== 'good';
  let worst = { level: 'good', cause: '', text: 'Commands arrive and pictures are fresh.' };
  for (const rule of RULES) {
    const value = measured[rule[0]] ?? 0;
    const level = levelOf(value, rule);
    if (LEVELS.indexOf(level) <= LEVELS.indexOf(worst.level)) continue;
    const [cause, , , sentence, remedy] = busy && (rule[0] !== 'loss' || measured.own_machine) ? DEVICE : rule;
    if (cause === 'device_ms') {
      worst = { level, cause, text: sentence(device_ms) };
      continue;
    }
    const computer = busyComputer(cause, measured);
    worst = { level, cause: computer ? 'computer' : cause, text: `${sentence(value)} ${computer || remedy}` };
  }
  return { ...worst, word: WORDS[worst.level] };
}
