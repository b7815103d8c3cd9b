// What the boards in the headset say, out of what the page knows. Nothing here touches the page.

import { padState } from './phone_state.js'; // relative, for tests without a browser

const capital = (words) => words[0].toUpperCase() + words.slice(1);

// How one hand is. hand: left or right. arm: the name of the arm that it drives, where there are several. source: what the headset
// sees in it: none, bare (nothing to squeeze), lost (its place is not known) or tracked. held: its grip is squeezed.
// takesGripper: its trigger does not have the gripper yet. The rest as for a phone's surface.
export function handState({ hand, arm, source, held, takesGripper, engaged, letGo, motion, edge, part }) {
  const who = `the ${hand} controller`;
  if (motion.level === 'stop') return { state: 'stopped', title: motion.title, words: 'Look at the robot first. The page releases the stop: leave VR for it.' };
  if (source === 'none') return { state: 'absent', title: `No ${hand} controller`, words: 'Take it into your hand and press a button on it.' };
  if (source === 'bare') return { state: 'absent', title: `Take ${who}`, words: 'What the headset sees in this hand has no grip button.' };
  if (source === 'lost') return { state: 'lost', title: `${capital(hand)} controller lost`, words: 'Hold it where the headset can see it. The arm holds.' };
  if (!held) return { state: 'rest', title: 'Squeeze to move', words: `The ${arm ? `${arm} arm` : 'arm'} follows your ${hand} hand. Let go to stop.` };
  const said = padState({ route: 'ar', held, engaged, letGo, tracked: true, motion, edge, part });
  if (said.state === 'moving' && takesGripper) said.words = 'Squeeze the trigger to take the gripper over.';
  return said;
}

// The large words over the picture, or null. hands: of those that drive; stopping: share of the time for which the stop's
// button was held, or 0; stale: the picture is too old.
export function bannerWords({ hands, stopping, stale, motion }) {
  if (stopping > 0 && motion.level !== 'stop') return { level: 'stop', title: 'Emergency stop', words: 'Keep holding. Let go, and nothing is stopped.', share: Math.ceil(stopping * 8) / 8 };
  const lost = hands.filter(({ state }) => state === 'lost');
  if (lost.length > 1) return { level: 'warn', title: 'Controllers lost', words: 'Hold them where the headset can see them. The arms hold.', share: 0 };
  if (lost.length) return { level: 'warn', title: lost[0].title, words: lost[0].words, share: 0 };
  if (stale) return { level: 'warn', title: 'The picture stands still', words: 'The arm holds until new pictures come.', share: 0 };
  return null;
}

// Where forward is, against where the person faced at the start. turned: to the left [rad].
export function turnWords(turned) {
  const degrees = Math.round((turned * 180) / Math.PI);
  return degrees === 0 ? 'straight' : `${Math.abs(degrees)}° ${degrees > 0 ? 'left' : 'right'}`;
}
