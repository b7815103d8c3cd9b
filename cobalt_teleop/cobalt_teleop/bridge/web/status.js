// What the page says, in words, about what it knows: connection, motion, control, episode, recording.

import { pageNow } from '/clock.js';
import { episodeButtons } from '/episode_buttons.js';
import { clockText } from '/view.js';

export const STALE_PICTURE_MS = 1000; // as the hosts have it
const STILL_MS = 400;
const SILENT_MS = 1000;

// The parts of the page are those of main.js.
export function makeStatus({ known, clock, cameras, link, roads, keyboard }) {
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
    if (link.refused) return { level: 'lost', text: 'You are not in', detail: link.refused, curtain: true };
    if (link.replaced) return { level: 'lost', text: 'Open in another tab', detail: 'Your session goes on there.', curtain: true };
    if (!navigator.onLine && !known.you?.own_machine && link.silent_ms > SILENT_MS) {
      return { level: 'lost', text: 'This device has no network', detail: 'The arm holds. Switch Wi-Fi on or plug the cable in: this page goes on by itself.', curtain: true };
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
    if (known.link.level === 'lost') return { level: 'wait', text: 'Nothing arrives', curtain: false };
    if (known.you?.companion) return { level: 'live', text: 'Paired', curtain: false };
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

  // What a page shows that is out, and does not come in by itself; null for others.
  function closed({ text, detail }) {
    if (link.refused) return { title: text, text: detail, needsLink: true, button: 'Try again' };
    return link.replaced ? { title: text, text: detail, needsLink: false, button: 'Bring it back here' } : null;
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
    if (control.yours && step.hold === 5) return hold('nothing is pressed');
    const heldInVain = keyboard.buttons && pageNow() - keyboard.pressed_ms > 600;
    if (control.yours && step.hold === 2 && heldInVain) return hold('release all keys, then press again');
    if (control.yours && known.released && step.hold <= 3) return hold(`${step.hold_text}; keys were released because ${known.released}`);
    return hold(step.hold_text);
  }

  function recordingWords() {
    const { episode, recording } = known;
    if (!known.workcell || !known.host.alive || !link.socketOpen) return ['', 'off'];
    if (episode?.practice && ['preparing', 'running', 'paused'].includes(episode.phase)) return ['Practice: nothing is recorded', 'off'];
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

  // How the running episode ends while nobody drives, in words, such as "ends at 1:00"; empty if somebody does, or none runs.
  function undriven() {
    const { episode, control: { holder } } = known;
    if (holder || episode?.phase !== 'running') return '';
    return episode.time_limit_s > 0 ? `ends at ${clockText(episode.time_limit_s).slice(0, -2)}` : 'goes on without end';
  }

  function elapsed() {
    const { episode } = known;
    if (!episode) return 0;
    if (!['running', 'paused'].includes(episode.phase) || !episode.started_ms) return episode.elapsed_s;
    // A clock whose host is silent stands still.
    if (known.host.alive && link.socketOpen && clock.now()) known.elapsed_s = (clock.now() - episode.started_ms) / 1000;
    return known.elapsed_s;
  }

  // Why this page cannot take control now, in a sentence; empty if it can, or somebody has it.
  function barFromControl() {
    const { place, you, control: { yours, holder }, workcell } = known;
    if (yours) return '';
    if (you?.role === 'spectator') return 'You are invited to watch.';
    if (you?.task && workcell && place?.workcell !== workcell.id && !workcell.tasks.includes(you.task)) {
      return `You are invited for the task "${you.task}", which ${workcell.id} does not have.`;
    }
    if (holder || !place || !workcell || !place.waiting || place.workcell === workcell.id) return '';
    return place.position ? `${workcell.id} is kept for somebody who came before you.` : `${workcell.id} is kept: others wait in line.`;
  }

  function colourOf(name) {
    return known.people.find((person) => person.name === name)?.colour ?? null;
  }

  function control() {
    const { yours, holder, holds_by, requested_by, you_ask, emergency_stop, authority } = known.control;
    const enabled = link.socketOpen && Boolean(known.workcell) && known.host.alive;
    const homing = authority === 'homing';
    const one = (state, title, note, button, presses = true) => ({
      state, title, note, button, enabled: enabled && presses, colour: yours || holder ? colourOf(holder) : null,
      home: {
        shown: yours && Boolean(known.workcell?.can_home), enabled: enabled && !emergency_stop && !homing,
        title: homing ? 'The arm drives home.' : 'Drive the arm to its home posture, slowly',
      },
    });
    if (!enabled) return one('free', known.workcell ? 'No answer' : 'No workcell', 'Nobody can drive now.', 'Take control');
    if (yours) {
      return requested_by
        ? one('yours', 'You have control', `${requested_by} asks for it.`, 'Hand over')
        : one('yours', 'You have control', emergency_stop ? 'It is stopped.' : 'Hold to move.', 'Give back');
    }
    const bar = barFromControl();
    if (holder) {
      const has = holds_by ? `Has control, by ${holds_by}.` : 'Has control.';
      if (bar) return one('other', holder, `${has} You watch.`, 'Ask for control', false);
      return you_ask
        ? one('other', holder, `${has} You have asked.`, 'Asked', false)
        : one('other', holder, `${has} You watch.`, 'Ask for control');
    }
    if (bar) return one('free', 'Nobody has control', bar, 'Take control', false);
    if (undriven()) return one('free', 'Nobody has control', 'Take it to end the episode.', 'Take control');
    return one('free', 'Nobody has control', emergency_stop ? 'The emergency stop is on.' : 'Drive, and it is yours.', 'Take control');
  }

  // What each button of the episode does now, or why it does nothing.
  function buttons() {
    const { control: { yours, holder, emergency_stop }, episode } = known;
    const barred = emergency_stop ? 'The emergency stop is on.'
      : !ready() ? 'No arm is there.'
        : holder && !yours ? `${holder} has control.`
          : barFromControl() || (episode?.phase === 'ending' ? 'The last episode is being saved.' : '');
    return episodeButtons({ episode, yours, barred });
  }

  return { ready, connection, closed, motion, recordingWords, undriven, elapsed, barFromControl, control, buttons, gripperWords };
}
