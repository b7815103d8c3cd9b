// The operator's page: what it knows, and what follows from it.

import { Cameras } from '/cameras.js';
import { HostClock, pageNow } from '/clock.js';
import { drawPads, nameKeys } from '/jog.js';
import { Keyboard } from '/keyboard.js';
import { Link, whatIsMissing } from '/link.js';
import { Roads } from '/roads.js';
import * as view from '/view.js';

const STALE_PICTURE_MS = 1000; // as the hosts have it
const RELEASED_SHOWN_MS = 5000; // why keys were released, once the page is looked at again
const STILL_MS = 400;
const NO_CONTROL = { yours: false, holder: '', requested_by: '', you_ask: false, emergency_stop: false, emergency_stop_by: '', faults: [] };

const clock = new HostClock();
const cameras = new Cameras(document.getElementById('cameras'), clock);
const link = new Link(clock);
const roads = new Roads({ link, cameras, clock, controlLives: () => known.host.alive && link.control.state === 'connected' && clock.sinceExchange_ms() < 3000 && document.visibilityState === 'visible' });

const known = {
  session: null,
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
  released: '',
  backSince_ms: null, // since when keys count again after they were released
  moved: { target: null, target_ms: 0, gripper: null, gripper_ms: 0 }, // when target and gripper were seen to move last
  elapsed_s: 0,
};

const NO_EPISODE = { episode: null, ended: null, recording: null, quality: null, step: null };

let light = () => {};

const keyboard = new Keyboard({
  send: sendKeys,
  onPress: (action) => {
    known.released = '';
    if (!ready()) {
      if (!known.control.emergency_stop) view.notice(`${connection().text}. No key counts now.`, 'info');
      return;
    }
    if (known.episode?.phase === 'preparing') view.notice('The workcell is being reset. Wait for "Running".', 'info');
    if (action.name === 'slow' || known.control.yours) return;
    if (!known.control.holder) link.send({ type: 'acquire', ask: false });
    else view.notice(`${known.control.holder} has control. Ask for it with the button "Ask for control".`, 'info');
  },
  onStop: emergencyStop,
  onRelease: (reason) => { Object.assign(known, { released: reason, backSince_ms: null }); },
});

function sendKeys({ buttons, engaged, clutchEpoch, pressCounts }) {
  light(buttons);
  if (!known.control.yours) return;
  if (engaged && cameras.isStale(STALE_PICTURE_MS)) {
    queueMicrotask(() => keyboard.releaseAll('your picture is too old')); // calls this again, with no key down
    return;
  }
  link.sequence += 1;
  link.sendSample({
    type: 'keys',
    sequence: link.sequence,
    device_ms: pageNow(),
    clock_offset_ms: clock.offset_ms,
    clock_uncertainty_ms: clock.uncertainty_ms,
    buttons,
    press_counts: pressCounts,
    engaged,
    clutch_epoch: clutchEpoch,
    frame: cameras.shownFrame(),
  });
}

function emergencyStop() {
  keyboard.releaseAll('emergency stop');
  if (!link.send({ type: 'emergency_stop' })) {
    view.notice('The stop could not be sent: the bridge does not answer. The arm holds without it.');
  }
}

const handlers = {
  session: (event) => { known.session = event; keyboard.resume(event); },
  keyboard: (event) => {
    keyboard.setActions(event.actions, event.motion_bits);
    nameKeys().then((keyName) => { light = drawPads(document.getElementById('pads'), keyboard, keyName); });
  },
  workcells: (event) => { known.workcells = event.list; },
  waiting: (event) => {
    Object.assign(known, { waiting: event, workcell: null, control: NO_CONTROL, viewers: 0 }, NO_EPISODE);
    document.title = 'Cobalt';
    cameras.setCameras([]);
    keyboard.setInControl(false);
  },
  workcell: (event) => {
    known.waiting = null;
    if (known.workcell?.id !== event.id) {
      Object.assign(known, NO_EPISODE);
    }
    known.workcell = event;
    document.title = `${event.id} – Cobalt`;
    cameras.setCameras(event.cameras);
  },
  host: (event) => { known.host = event; },
  viewers: (event) => { known.viewers = event.count; },
  control: (event) => {
    const asked = event.requested_by && event.requested_by !== known.control.requested_by && event.yours;
    if (asked) view.notice(`${event.requested_by} asks for control.`, 'info');
    if (known.control.yours && !event.yours) keyboard.releaseAll('your control has ended');
    known.control = event;
    keyboard.setInControl(event.yours);
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
  step: (event) => { noteMotion(event); known.step = event; },
  notice: (event) => view.notice(event.text, event.level),
  error: (event) => view.notice(`The bridge refused a message of this page: ${event.text}`),
  replaced: () => {},
  refused: () => {},
  done: () => {},
};

link.addEventListener('event', ({ detail }) => { handlers[detail.type]?.(detail); render(); });
link.addEventListener('sample', ({ detail }) => { if (detail.type === 'anchor') cameras.setAnchor(detail); });
link.addEventListener('state', () => {
  if (!link.socketOpen) {
    known.control = { ...known.control, yours: false, you_ask: false };
    keyboard.setInControl(false);
    keyboard.releaseAll('the bridge does not answer');
  }
  render();
});

view.onClick('start', () => link.send({ type: 'start' }));
view.onClick('reset', () => link.send({ type: 'reset' }));
view.onClick('success', () => link.send({ type: 'end', outcome: 'success' }));
view.onClick('discard', () => link.send({ type: 'end', outcome: 'discarded' }));
view.onClick('stop', emergencyStop);
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
    view.notice('The folder is copied.', 'info');
  } catch {
    view.notice(path, 'info');
  }
});
document.getElementById('workcell').addEventListener('change', (event) => {
  const url = new URL(location.href);
  url.searchParams.set('workcell', event.target.value);
  location.assign(url);
});

function flashOf({ outcome, outcome_source }) {
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

function gripperWords() {
  const { step, moved } = known;
  if (!step || step.gripper === null || step.gripper_target === null) return '';
  const to_go = step.gripper_target - step.gripper;
  if (Math.abs(to_go) < 0.06) return step.gripper > 0.9 ? 'open' : step.gripper < 0.1 ? 'closed' : 'partly open';
  if (pageNow() - moved.gripper_ms < STILL_MS) return to_go > 0 ? 'opening' : 'closing';
  return to_go > 0 ? 'blocked' : 'holding';
}

// Somebody drives against the workspace's edge, and nothing moves.
function atEdge({ limits, target }) {
  if (!limits.includes('edge of the workspace') || pageNow() - known.moved.target_ms < STILL_MS) return '';
  const floor = known.workcell?.floor_z ?? null;
  return floor !== null && target[2] <= floor + 0.001 ? 'At the table' : 'At the edge of the workspace';
}

function ready() {
  return link.socketOpen && Boolean(known.workcell) && known.host.alive && !known.control.emergency_stop;
}

function connection() {
  if (link.refused) {
    return { level: 'lost', text: 'The door is closed', detail: link.refused, curtain: true };
  }
  if (link.replaced) {
    return { level: 'lost', text: 'Open in another tab', detail: 'This session went on in another tab. Load this page again to bring it back here.', curtain: true };
  }
  if (!link.socketOpen) {
    return known.session
      ? { level: 'lost', text: 'The bridge does not answer', detail: 'Trying again. The arm holds meanwhile.', curtain: true }
      : { level: 'wait', text: 'Connecting', detail: 'Looking for the bridge.', curtain: true };
  }
  if (known.waiting || !known.workcell) {
    const wish = known.waiting?.workcell;
    const others = known.workcells.map((workcell) => workcell.id).join(', ');
    const is = known.workcells.length > 1 ? 'there are' : 'there is';
    return {
      level: 'wait',
      text: wish ? `Waiting for ${wish}` : 'Waiting for a workcell',
      detail: wish ? `No workcell of that name is here${others ? `; ${is} ${others}` : ' yet'}. This page goes on when it comes.` : 'No simulator and no robot is running yet. This page goes on when one is.',
      curtain: true,
      choices: known.workcells,
    };
  }
  if (!known.host.alive) {
    const [text, ...more] = known.host.text.split('. ');
    return { level: 'lost', text, detail: more.join('. '), curtain: true, choices: known.workcells.filter(({ id }) => id !== known.workcell.id) };
  }
  if (!roads.canShowVideo) {
    return { level: 'wait', text: 'No video', detail: 'This browser cannot show H.264 video. Use Chrome, Edge, Safari, or Firefox with its H.264 plug-in.', curtain: true };
  }
  if (cameras.byName.size === 0) return { level: 'live', text: 'Live, without cameras', curtain: false };
  if (cameras.isLive()) return { level: 'live', text: 'Live', curtain: false };
  const started = [...cameras.byName.values()].some((camera) => camera.shown);
  if (link.video.state === 'connected' && started) return { level: 'wait', text: 'The picture stands still', curtain: false };
  if (started) return { level: 'wait', text: 'Connecting again', curtain: false };
  const slow = link.video.waits_ms() > 5000;
  const detail = !slow ? '' : link.video.state === 'new'
    ? 'This browser starts no connection. It needs a network interface, even to reach its own machine: switch one on.'
    : 'The connection for video does not come about. A firewall or a browser extension may block WebRTC (UDP).';
  return { level: 'wait', text: 'Starting live video', detail, curtain: true };
}

function motion(state) {
  const { control, step } = known;
  const limits = step?.limits ?? [];
  const hold = (words) => ({ level: 'hold', title: 'Holding', words, limits: [] });
  if (control.emergency_stop) return { level: 'stop', title: 'Emergency stop', words: 'The arm stands until the stop is released.', limits: [] };
  if (control.faults?.length) return { level: 'hold', title: 'Holding', words: control.faults[0], limits: [] };
  if (state.level !== 'live' && state.curtain) return hold(state.text.toLowerCase() === 'live' ? '' : 'no connection to the arm');
  if (keyboard.away) return hold(keyboard.away);
  if (control.yours && cameras.isStale(STALE_PICTURE_MS)) return hold('your picture is too old');
  if (!step) return hold('no news from the arm yet');
  if (step.authority === 'homing') return { level: 'move', title: 'Homing', words: 'The arm drives to its home posture.', limits };
  const edge = step.hold ? '' : atEdge(step);
  if (edge) return { level: 'hold', title: edge, words: 'It goes no further this way.', limits: [] };
  if (!step.hold) return { level: 'move', title: 'Moving', words: step.authority === 'policy' ? 'A policy drives.' : control.yours ? 'You drive.' : `${control.holder || 'Somebody'} drives.`, limits };
  if (!control.yours && control.holder && [1, 2].includes(step.hold)) return hold(`${control.holder} has control and does not move`);
  if (control.yours && step.hold === 5) return hold('no movement key is pressed');
  const heldInVain = keyboard.buttons && pageNow() - keyboard.pressed_ms > 600;
  if (control.yours && step.hold === 2 && heldInVain) return hold('release all keys, then press again');
  if (control.yours && known.released && step.hold <= 3) return hold(`${step.hold_text}; keys were released because ${known.released}`);
  return hold(step.hold_text);
}

function recordingWords() {
  const { episode, recording } = known;
  if (!known.workcell || !known.host.alive || !link.socketOpen) return ['', 'off'];
  if (!recording) return ['No recorder is running: nothing is kept.', 'warn'];
  if (recording.state === 'failed') return [recording.reason || 'The recorder failed.', 'warn'];
  if (recording.missing_topics.length) return [`The recorder waits for ${recording.missing_topics.join(', ')}`, 'warn'];
  const here = recording.episode && recording.episode === episode?.id;
  if (recording.state === 'recording') return [`Recording, ${(recording.bytes / 1e6).toFixed(1)} MB${recording.dropped ? `, ${recording.dropped} lost` : ''}`, 'on'];
  if (recording.state === 'finalising') return ['Saving', 'on'];
  if (here && recording.state === 'saved') return ['Saved', 'off'];
  if (here && ['preparing', 'ready'].includes(recording.state)) return ['The recorder gets ready', 'off'];
  return ['Recorder ready', 'off'];
}

function elapsed() {
  const { episode } = known;
  if (!episode) return 0;
  if (!['running', 'paused'].includes(episode.phase) || !episode.started_ms) return episode.elapsed_s;
  // A clock whose host is silent stands still.
  if (known.host.alive && link.socketOpen && clock.now()) known.elapsed_s = (clock.now() - episode.started_ms) / 1000;
  return known.elapsed_s;
}

function control() {
  const { yours, holder, requested_by, you_ask, emergency_stop } = known.control;
  const enabled = link.socketOpen && Boolean(known.workcell) && known.host.alive;
  if (!enabled) return { state: 'free', title: known.workcell ? 'No answer' : 'No workcell', note: 'Nobody can drive now.', button: 'Take control', enabled };
  if (yours) {
    return requested_by
      ? { state: 'yours', title: 'You have control', note: `${requested_by} asks for it.`, button: 'Hand over', enabled }
      : { state: 'yours', title: 'You have control', note: emergency_stop ? 'The emergency stop is on.' : 'Hold a key to move.', button: 'Release control', enabled };
  }
  if (holder) {
    return you_ask
      ? { state: 'other', title: holder, note: 'Has control. You have asked.', button: 'Asked', enabled: false }
      : { state: 'other', title: holder, note: 'Has control. You watch.', button: 'Ask for control', enabled };
  }
  return { state: 'free', title: 'Nobody has control', note: emergency_stop ? 'The emergency stop is on.' : 'Press a key to take it.', button: 'Take control', enabled };
}

// What each button of the episode does now, or why it does nothing.
function buttons() {
  const { control: { yours, holder, emergency_stop }, episode } = known;
  const running = ['preparing', 'running', 'paused'].includes(episode?.phase);
  const saving = episode?.phase === 'ending';
  const ended = episode?.phase === 'ended' && Boolean(episode.id);
  const barred = emergency_stop ? 'The emergency stop is on.'
    : !ready() ? 'No arm is there.'
      : holder && !yours ? `${holder} has control.`
        : saving ? 'The last episode is being saved.' : '';
  const one = (label, enabled, does, why) => ({ label, enabled: enabled && !barred, title: barred || (enabled ? does : why) });
  return {
    start: one('Start', !running, 'Reset the workcell and start an episode; it is recorded', 'An episode is running.'),
    reset: one('Start over', running, 'End this episode as aborted and start a new one', 'No episode is running.'),
    success: one(
      ended ? 'Mark success' : 'Success', (running && yours) || ended,
      ended ? 'Mark the last episode as a success' : 'End the episode and mark it as a success',
      running ? 'Take control first.' : 'No episode is running.',
    ),
    discard: one(
      ended ? 'Discard episode' : 'Discard', (running && yours) || ended,
      ended ? 'Mark the last episode as not to be used; it stays on disk' : 'End the episode and mark it as not to be used; it stays on disk',
      running ? 'Take control first.' : 'No episode is running.',
    ),
  };
}

function render() {
  // Why keys were released stays for a moment after they count again.
  if (known.released && !keyboard.away) {
    known.backSince_ms ??= pageNow();
    if (pageNow() - known.backSince_ms > RELEASED_SHOWN_MS) known.released = '';
  }
  const state = connection();
  view.showConnection(state);
  const main = cameras.byName.get(cameras.main);
  view.showGauges({
    age_ms: state.level === 'live' || main?.shown ? main?.age_ms() ?? null : null,
    round_trip_ms: link.samples?.readyState === 'open' ? clock.round_trip_ms : null,
    fps: main?.fps ?? 0,
    viewers: known.viewers,
    road: roads.words,
  });
  view.showWorkcells(known.workcells, known.waiting ? '' : known.workcell?.id ?? '');
  view.showMotion(motion(state));
  const [words, level] = recordingWords();
  view.showEpisode({
    episode: known.episode,
    elapsed_s: elapsed(),
    recordingWords: words,
    recordingLevel: level,
    silent: !known.host.alive || !link.socketOpen,
  });
  view.showButtons(buttons());
  view.showGripper(ready() || known.control.emergency_stop ? gripperWords() : '');
  view.showControl(control());
  const by = known.control.emergency_stop_by;
  view.showStop(known.control.emergency_stop, by && by === known.session?.operator ? 'you' : by);
  view.showLast({ episode: known.ended, quality: known.quality, recording: known.recording });
}

async function eachSecond() {
  await cameras.measure(link.video.peer);
  link.send({
    type: 'stats',
    rtt_ms: clock.round_trip_ms,
    clock_offset_ms: clock.offset_ms,
    clock_uncertainty_ms: clock.uncertainty_ms,
    loss_down: cameras.lossDown,
    cameras: cameras.report(),
  });
  if (roads.canShowVideo) roads.watch();
}

// For tests and benchmarks; nothing can be changed through it.
Object.defineProperty(window, 'cobalt', {
  value: Object.freeze({
    get connection() { const state = connection(); return { level: state.level, text: state.text, control: link.control.state, video: link.video.state }; },
    get cameras() {
      return Object.fromEntries([...cameras.byName].map(([name, camera]) => [name, {
        age_ms: camera.age_ms(), fps: camera.fps, stamp_ms: camera.shown?.stamp_ms ?? null,
        shown_at_ms: camera.shown?.at_ms ?? null, frame: camera.shown?.id ?? null, received_at_ms: camera.shown?.received_ms ?? null, freezes: camera.freezes, dropped: camera.dropped,
      }]));
    },
    get road() { return roads.name; },
    get fellBack() { return roads.fellBack; },
    get clock() { return { offset_ms: clock.offset_ms, uncertainty_ms: clock.uncertainty_ms, round_trip_ms: clock.round_trip_ms }; },
    get session() { return known.session?.session ?? null; },
    get workcell() { return known.workcell?.id ?? null; },
    get control() { return structuredClone(known.control); },
    get episode() { return structuredClone(known.episode); },
    get recording() { return structuredClone(known.recording); },
    get quality() { return structuredClone(known.quality); },
    get step() { return structuredClone(known.step); },
    get motion() { return motion(connection()); },
    get keys() { return { buttons: keyboard.buttons, engaged: keyboard.engaged, clutch_epoch: keyboard.clutchEpoch, away: keyboard.away }; },
  }),
});

const missing = whatIsMissing();
if (missing) {
  view.showConnection({ level: 'lost', text: 'This browser cannot do it', detail: missing, curtain: true });
} else {
  roads.choose().then(() => link.open());
  setInterval(render, 100);
  setInterval(eachSecond, 1000);
}
render();
if (missing) view.showConnection({ level: 'lost', text: 'This browser cannot do it', detail: missing, curtain: true });
