// The operator's page: what it knows, and what it does when a person or the bridge says something.

import { Cameras } from '/cameras.js';
import { HostClock, pageNow } from '/clock.js';
import { ConnectionHelp } from '/connection_help.js';
import { newsOfControl } from '/control_news.js';
import { axesFor } from '/devices/axes.js';
import { addDevices } from '/devices/devices.js';
import { addPairing } from '/devices/pairing.js';
import { DrivePanel } from '/devices/drive_panel.js';
import { Driver } from '/devices/driver.js';
import { Settings } from '/devices/settings.js';
import { Goal } from '/goal.js';
import { drawPads, nameKeys } from '/jog.js';
import { Keyboard } from '/keyboard.js';
import { Link, whatIsMissing } from '/link.js';
import { TickMeter, linkQuality } from '/link_quality.js';
import { makeLobby } from '/lobby.js';
import { Pace } from '/pace.js';
import { Roads } from '/roads.js';
import { STALE_PICTURE_MS, makeStatus } from '/status.js';
import { makeSupervisor } from '/supervisor.js';
import { HAS_TOUCH } from '/devices/phone_routes.js';
import { IS_HEADSET } from '/devices/xr_support.js';
import { forgetToken, isCompanion } from '/token.js';
import * as view from '/view.js';

const SILENT_MS = 1000;
const POOR_TOLD_MS = 30000; // a poor link is told again after so long
const RELEASED_SHOWN_MS = 5000; // why keys were released, once the page is looked at again
const NO_CONTROL = { yours: false, holder: '', requested_by: '', you_ask: false, emergency_stop: false, emergency_stop_by: [], release_objection: '', faults: [] };

const UNDRIVEN_MS = 1000;
const RENDER_MS = 100;

const clock = new HostClock();
const pace = new Pace(RENDER_MS);
let ticks = new TickMeter();
const cameras = new Cameras(document.getElementById('cameras'), clock);
const link = new Link(clock, () => cameras.pictured_ms);
const roads = new Roads({ link, cameras, clock, controlLives: () => known.host.alive && link.control.state === 'connected' && link.silent_ms < 700 && document.visibilityState === 'visible' });

const known = {
  session: null,
  you: null, // as whom the bridge knows this page
  people: [],
  place: null,
  idle_s: 0, // seconds until this place goes to somebody else; 0 for never
  workcells: [],
  workcell: null,
  waiting: null,
  host: { alive: true, text: '' },
  control: NO_CONTROL,
  episode: null,
  ended: null, // the last episode that ended
  recording: null,
  quality: null,
  step: null,
  viewers: 0,
  link: { level: 'unknown', cause: '', word: '–', text: 'How good the link is' },
  poorTold_ms: -Infinity,
  released: '',
  backSince_ms: null, // since when keys count again after they were released
  moved: { target: null, target_ms: 0, gripper: null, gripper_ms: 0 }, // when target and gripper were seen to move last
  elapsed_s: 0,
};

const misled = isCompanion() && !HAS_TOUCH && !IS_HEADSET; // a link for a phone, opened on what is none

const HOLD_NOT_ENGAGED = 2; // PartStep

const NO_EPISODE = { episode: null, ended: null, recording: null, quality: null, step: null };

let light = () => {};

const keyboard = new Keyboard({
  send: sendKeys,
  onPress: (action) => { mayMove({ takesControl: action.name !== 'slow' }); },
  onStop: () => { lobby.onEscape(); emergencyStop(); },
  onRelease: (reason) => { Object.assign(known, { released: reason, backSince_ms: null }); },
});

const help = new ConnectionHelp({ link, root: document.getElementById('way') });
const status = makeStatus({ known, clock, cameras, link, roads, keyboard });
const lobby = makeLobby({ known, link, keyboard });
const supervisor = makeSupervisor({ known, link, clock, notice: view.notice });

const settings = new Settings();
const driver = new Driver({
  inControl: () => known.control.yours,
  away: () => keyboard.away,
  mayMove: () => mayMove({ takesControl: true }),
  stale: () => cameras.isStale(STALE_PICTURE_MS),
  shownFrame: () => cameras.shownFrame(),
  camera: mainCamera,
  parts: () => known.workcell?.parts ?? [],
  sample: sendSample,
}, settings);
const panel = new DrivePanel(settings);
const pads = document.getElementById('pads');
pads.hidden = isCompanion();
if (!isCompanion()) panel.add({ name: 'keys', title: 'Keys', kind: 'keys', root: pads, show() {}, hide() {} });
const goal = new Goal({ onOpen: () => { keyboard.releaseAll('you look at the goal'); driver.letGoAll('you look at the goal'); } });
const pairing = isCompanion() ? null : addPairing({ panel, notice: view.notice, pair: () => link.send({ type: 'pair' }) });
addDevices({
  panel, driver, settings, cameras, notice: view.notice, arm: () => ({ motion: status.motion(status.connection()), step: known.step }),
  stop: emergencyStop, bar: barFromDriving, stale: () => known.control.yours && cameras.isStale(STALE_PICTURE_MS), seenElsewhere: (elsewhere) => { keyboard.elsewhere = elsewhere; },
});

// Why this page cannot drive now though the arm is there, in a sentence; empty if it can.
function barFromDriving() {
  const { yours, holder } = known.control;
  if (yours) return '';
  return status.barFromControl() || (holder && `${holder} has control. Ask for it with the button "Ask for control".`);
}

// Somebody has pressed what moves the arm: says why it does not, and takes control if nobody has it.
function mayMove({ takesControl }) {
  known.released = '';
  goal.close(); // whoever drives sees where
  if (!status.ready()) {
    if (!known.control.emergency_stop) view.notice(`${status.connection().text}. Nothing moves the arm now.`, 'info');
    return false;
  }
  if (known.episode?.phase === 'preparing') view.notice('The workcell is being reset. Wait for "Running".', 'info');
  if (!takesControl || known.control.yours) return true;
  const bar = barFromDriving();
  if (bar) {
    view.notice(bar, 'info');
    return false;
  }
  link.send({ type: 'acquire', ask: false });
  return true;
}

function mainCamera() {
  return known.workcell?.cameras.find(({ name }) => name === cameras.main) ?? null;
}

function sendSample(message) {
  return link.sendSample({ ...message, clock_offset_ms: clock.offset_ms, clock_uncertainty_ms: clock.uncertainty_ms });
}

function sendKeys({ buttons, engaged, clutchEpoch, pressCounts }) {
  light(buttons);
  if (!known.control.yours || isCompanion()) return;
  if (engaged && cameras.isStale(STALE_PICTURE_MS)) {
    queueMicrotask(() => keyboard.releaseAll('your picture is too old')); // calls this again, with no key down
    return;
  }
  link.sequence += 1;
  sendSample({
    type: 'keys',
    sequence: link.sequence,
    device_ms: pageNow(),
    buttons,
    press_counts: pressCounts,
    engaged,
    clutch_epoch: clutchEpoch,
    ...axesFor(settings.get('reference'), mainCamera()),
    frame: cameras.shownFrame(),
  });
}

function emergencyStop() {
  keyboard.releaseAll('emergency stop');
  driver.letGoAll('emergency stop');
  goal.close();
  if (link.socket.ended) return; // a page that is out says so, and offers no stop
  if (!link.send({ type: 'emergency_stop' })) {
    view.notice('The stop could not be sent: the bridge does not answer. The arm holds without it.');
  }
}

const handlers = {
  session: (event) => { known.session = event; keyboard.resume(event); },
  keyboard: (event) => {
    keyboard.setActions(event.actions, event.motion_bits);
    nameKeys().then((keyName) => { light = drawPads(pads, keyboard, keyName); });
  },
  you: (event) => {
    known.you = event;
    document.body.classList.toggle('companion', event.companion);
    document.body.classList.toggle('spectator', event.role === 'spectator');
    settings.of(event.name);
    pairing?.tell(event.companions);
    lobby.welcome();
  },
  pairing: (event) => pairing?.show(event),
  goal: (event) => goal.take(event),
  people: (event) => { known.people = event.list; },
  place: (event) => { known.place = event; },
  idle: (event) => { known.idle_s = event.left_s; },
  overview: (event) => supervisor.show(event),
  invitation: (event) => supervisor.showInvitation(event),
  workcells: (event) => { known.workcells = event.list; },
  waiting: (event) => {
    Object.assign(known, { waiting: event, workcell: null, control: NO_CONTROL, viewers: 0 }, NO_EPISODE);
    cameras.setCameras([]);
    goal.forget();
    keyboard.setInControl(false);
    driver.setInControl(false);
  },
  workcell: (event) => {
    if (link.workcell && event.id !== link.workcell) lobby.forgetWish(); // somebody has led this page elsewhere
    known.waiting = null;
    if (known.workcell?.id !== event.id) {
      Object.assign(known, NO_EPISODE);
      ticks = new TickMeter();
      goal.forget();
      known.control = { ...known.control, holder: '' }; // who drove there has not stopped to drive here
    }
    known.workcell = event;
    cameras.setCameras(isCompanion() ? [] : event.cameras);
  },
  host: (event) => { known.host = event; },
  viewers: (event) => { known.viewers = event.count; },
  control: (event) => {
    const news = newsOfControl(known.control, event);
    if (news) view.notice(news, 'info', { about: 'control' });
    if (known.control.yours && !event.yours) keyboard.releaseAll('your control has ended');
    const left = known.control.yours ? 'You have' : `${known.control.holder} has`;
    const drove = Boolean(known.control.holder);
    known.control = event;
    keyboard.setInControl(event.yours);
    driver.setInControl(event.yours);
    // Not for the moment in which another takes it, nor if the episode has gone with it.
    if (drove && status.undriven()) {
      setTimeout(() => {
        const ends = status.undriven();
        if (ends) view.notice(`${left} no control any more. The episode runs on, and ${ends} unless somebody ends it before.`, 'info');
      }, UNDRIVEN_MS);
    }
  },
  episode: (event) => {
    const before = known.episode;
    known.episode = event;
    const isOver = ['ending', 'ended'].includes(event.phase);
    if (isOver) known.ended = event;
    const wasRunning = before?.id === event.id && ['running', 'preparing'].includes(before.phase);
    const relabelled = isOver && before?.id === event.id && before.outcome !== event.outcome;
    if (isOver && (wasRunning || relabelled)) view.flash(...flashOf(event));
  },
  recording: (event) => { known.recording = event; },
  quality: (event) => { if (event.final) known.quality = event; },
  step: (event) => {
    noteMotion(event);
    if (event.hold === HOLD_NOT_ENGAGED) keyboard.noteRest();
    ticks.onStep(event.ticks_missed, pageNow());
    known.step = event;
  },
  let_go: (event) => driver.letGo(event),
  notice: (event) => view.notice(event.text, event.level),
  error: (event) => view.notice(`The bridge refused a message of this page: ${event.text}`),
  replaced: () => {},
  refused: () => {},
  done: (event) => {
    if (event.what === 'rename') lobby.onRenamed();
    else if (event.what === 'stop_all') view.notice('All workcells are stopped. The panel behind your name releases them.', 'info');
  },
};

link.addEventListener('event', ({ detail }) => { handlers[detail.type]?.(detail); render(); });
link.addEventListener('sample', ({ detail }) => { if (detail.type === 'anchor') cameras.setAnchor(detail); });
link.addEventListener('state', () => {
  if (!link.socketOpen) {
    known.control = { ...known.control, yours: false, you_ask: false };
    keyboard.setInControl(false);
    keyboard.releaseAll('the bridge does not answer');
    driver.setInControl(false);
  }
  render();
});

view.onClick('start', () => link.send({ type: 'start' }));
view.onClick('practise', () => link.send({ type: 'practise' }));
view.onClick('reset', () => link.send({ type: 'reset' }));
view.onClick('success', () => link.send({ type: 'end', outcome: 'success' }));
view.onClick('discard', () => link.send({ type: 'end', outcome: 'discarded' }));
view.onClick('stop', emergencyStop);
view.onClick('home', () => link.send({ type: 'home' }));
view.onClick('closed-again', () => {
  if (misled) forgetToken();
  location.reload();
});
view.onClick('release-stop', () => link.send({ type: 'clear_emergency_stop' }));
view.onClick('take', () => {
  const { yours, holder, requested_by } = known.control;
  if (yours) link.send({ type: requested_by ? 'hand_over' : 'release' });
  else link.send({ type: 'acquire', ask: Boolean(holder) });
});
view.onClick('bag', async () => {
  const path = known.quality?.uri || known.recording?.uri || '';
  try {
    await navigator.clipboard.writeText(path);
    view.notice(`The ${view.whatIs(path)} is copied.`, 'info');
  } catch {
    view.notice(path, 'info');
  }
});
document.getElementById('workcell').addEventListener('change', (event) => {
  if (!link.workcell && known.place && !known.place.workcell) {
    link.send({ type: 'watch', workcell: event.target.value }); // and stay in line
    return;
  }
  const url = new URL(location.href);
  url.searchParams.set('workcell', event.target.value);
  location.assign(url);
});

function flashOf({ outcome, outcome_source, practice }) {
  if (practice && outcome === 'discarded') return ['Practice ended', 'marked'];
  if (outcome === 'success' && outcome_source === 'predicate') return ['✓ Success', 'proven'];
  if (outcome === 'success' || outcome_source === 'reviewer') return [`Marked as ${view.outcomeWords(outcome)}`, 'marked'];
  if (outcome === 'discarded') return ['Discarded', 'marked'];
  return [`Episode ended: ${view.outcomeWords(outcome)}`, 'failed'];
}

function noteMotion({ target, gripper }) {
  const { moved } = known;
  if (!moved.target || target.some((value, axis) => value !== moved.target[axis])) Object.assign(moved, { target, target_ms: pageNow() });
  if (moved.gripper === null || Math.abs(gripper - moved.gripper) > 0.015) Object.assign(moved, { gripper, gripper_ms: pageNow() });
}

// For how long neither a message nor a picture has come.
function silent_ms() {
  return Math.min(link.silent_ms, ...[...cameras.byName.values()].map((camera) => camera.sinceLastFrame_ms()));
}

function lookAtLink() {
  const now_ms = pageNow();
  const all = [...cameras.byName.values()];
  link.meter.onFreezes(all.reduce((sum, camera) => sum + camera.freezes, 0), now_ms);
  const { loss, ...measured } = link.meter.read(now_ms);
  known.link = linkQuality({
    ...measured,
    silent_ms: link.socketOpen ? silent_ms() : 0,
    loss: Math.max(loss ?? 0, cameras.lossDown ?? 0),
    missed: ticks.share(known.workcell?.control_rate_hz ?? 0),
    own_machine: Boolean(known.you?.own_machine),
    age_ms: cameras.byName.get(cameras.main)?.age_ms() ?? null,
    device_ms: Math.max(cameras.byName.get(cameras.main)?.device_ms() ?? 0, pace.late_ms() ?? 0),
  });
  if (known.link.level === 'poor' && now_ms - known.poorTold_ms > POOR_TOLD_MS) {
    known.poorTold_ms = now_ms;
    view.notice(known.link.text, 'info', { link: { text: 'Test the connection', href: '/check' } });
  }
}

function render() {
  keyboard.setCut(link.socketOpen && silent_ms() > SILENT_MS ? 'nothing comes from the robot' : '');
  driver.watch();
  const title = known.workcell ? `${known.workcell.id} – Cobalt` : 'Cobalt';
  view.showTitle(lobby.strip?.level === 'turn' ? `Your turn: ${title}` : title);
  // Why keys were released stays for a moment after they count again.
  if (known.released && !keyboard.away) {
    known.backSince_ms ??= pageNow();
    if (pageNow() - known.backSince_ms > RELEASED_SHOWN_MS) known.released = '';
  }
  const state = status.connection();
  view.showConnection(help.explain(state));
  view.showClosed(status.closed(state));
  const main = cameras.byName.get(cameras.main);
  view.showGauges({
    age_ms: state.level === 'live' || main?.shown ? main?.age_ms() ?? null : null,
    round_trip_ms: link.samples?.readyState === 'open' ? clock.round_trip_ms : null,
    fps: main?.fps ?? 0,
    viewers: known.viewers,
    road: roads.words,
    link: link.socketOpen ? known.link : { level: 'lost', word: 'Lost', text: 'The bridge does not answer.' },
  });
  view.showWorkcells(known.workcells, known.waiting ? '' : known.workcell?.id ?? '');
  view.showMotion(status.motion(state));
  goal.tell(known.episode?.instruction || 'What it looks like when the task is done');
  const [words, level] = status.recordingWords();
  view.showEpisode({
    episode: known.episode,
    quality: known.quality,
    elapsed_s: status.elapsed(),
    recordingWords: words,
    recordingLevel: level,
    silent: !known.host.alive || !link.socketOpen,
    undriven: status.undriven(),
  });
  view.showButtons(status.buttons());
  view.showGripper(status.ready() || known.control.emergency_stop ? status.gripperWords() : '');
  view.showControl(status.control());
  view.showStop({
    stopped: known.control.emergency_stop,
    by: view.inWords(known.control.emergency_stop_by.map((name) => (name === known.you?.name ? 'you' : name))),
    objection: known.control.release_objection,
  });
  lobby.render();
  supervisor.render();
  view.showLast({ episode: known.ended, quality: known.quality, recording: known.recording });
}

async function eachSecond() {
  await cameras.measure(link.video.peer);
  lookAtLink();
  link.send({
    type: 'stats',
    rtt_ms: clock.round_trip_ms,
    clock_offset_ms: clock.offset_ms,
    clock_uncertainty_ms: clock.uncertainty_ms,
    loss_down: cameras.lossDown,
    level: known.link.level,
    cause: known.link.cause,
    cameras: cameras.report(),
  });
  if (roads.canShowVideo) roads.watch();
}

// For tests and benchmarks; nothing can be changed through it.
Object.defineProperty(window, 'cobalt', {
  value: Object.freeze({
    get connection() { const state = status.connection(); return { level: state.level, text: state.text, control: link.control.state, video: link.video.state }; },
    get cameras() {
      return Object.fromEntries([...cameras.byName].map(([name, camera]) => [name, {
        age_ms: camera.age_ms(), fps: camera.fps, stamp_ms: camera.shown?.stamp_ms ?? null,
        shown_at_ms: camera.shown?.at_ms ?? null, frame: camera.shown?.id ?? null, received_at_ms: camera.shown?.received_ms ?? null, freezes: camera.freezes, dropped: camera.dropped,
      }]));
    },
    get road() { return roads.name; },
    get link() { return { ...known.link }; },
    get fellBack() { return roads.fellBack; },
    get clock() { return { offset_ms: clock.offset_ms, uncertainty_ms: clock.uncertainty_ms, round_trip_ms: clock.round_trip_ms }; },
    get session() { return known.session?.session ?? null; },
    get workcell() { return known.workcell?.id ?? null; },
    get you() { return structuredClone(known.you); },
    get people() { return structuredClone(known.people); },
    get place() { return structuredClone(known.place); },
    get control() { return structuredClone(known.control); },
    get episode() { return structuredClone(known.episode); },
    get recording() { return structuredClone(known.recording); },
    get quality() { return structuredClone(known.quality); },
    get step() { return structuredClone(known.step); },
    get motion() { return status.motion(status.connection()); },
    get keys() { return { buttons: keyboard.buttons, engaged: keyboard.engaged, clutch_epoch: keyboard.clutchEpoch, away: keyboard.away }; },
  }),
});

const missing = whatIsMissing();
if (misled) {
  view.showClosed({ title: 'This link is for a phone', text: 'Open it on the phone that you want to hold. It is still good: nothing has used it here.', needsLink: false, button: 'Open the page of this screen' });
} else if (missing) {
  view.showConnection({ level: 'lost', text: 'This browser cannot do it', detail: missing, curtain: true });
} else {
  roads.choose().catch(() => {}).then(() => link.open());
  setInterval(() => {
    pace.beat(pageNow(), document.hidden);
    render();
  }, RENDER_MS);
  setInterval(eachSecond, 1000);
}
if (!misled) render();
if (missing) view.showConnection({ level: 'lost', text: 'This browser cannot do it', detail: missing, curtain: true });
