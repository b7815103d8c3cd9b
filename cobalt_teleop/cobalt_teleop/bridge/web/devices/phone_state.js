// What the phone's large surface says, out of what the page knows. Nothing here touches the page.

const REENGAGE = 10;
const PRESS_AGAIN = new Set([3, 4, 9, REENGAGE, 15, 17]); // PartStep.HOLD_STALE, _NOT_TRACKED, _JUMP, _REENGAGE, _FRAME_STALE, _BLOCKED: a fresh press ends them

const REST = {
  ar: { title: 'Hold here to move', words: 'The arm follows your phone. Let go to stop.' },
  sensors: { title: 'Drag here to move', words: 'Turn the phone to turn the gripper. A second finger: up and down.' },
  touch: { title: 'Drag here to move', words: 'A second finger: up and down. Let go to stop.' },
};

function sentence(words) {
  return words ? `${words[0].toUpperCase()}${words.slice(1)}${/[.?!]$/.test(words) ? '' : '.'}` : '';
}

// route: ar, sensors or touch. held: a finger is on the surface. engaged: the clutch is pressed. letGo: why the page has
// let go of it, or ''. tracked: the phone knows its place. motion: of the page. edge: the arm is at the edge of its
// workspace. part: newest news of the arm that is driven, or null. bar: why this page cannot drive now, in a sentence, or ''.
export function padState({ route, bar, held, engaged, letGo, tracked, motion, edge, part }) {
  if (motion.level === 'stop') return { state: 'stopped', title: motion.title, words: motion.words };
  if (bar) return { state: 'holding', title: 'You watch', words: bar };
  if (!tracked) return { state: 'lost', title: 'The phone has lost its place', words: 'Move it slowly, where there is light and something to see. The arm holds.' };
  if (!held) return { state: 'rest', ...REST[route] };
  if (!engaged && letGo) return { state: 'holding', title: 'Let go, then press again', words: sentence(letGo) };
  if (!engaged) return { state: 'holding', title: 'Nothing moves now', words: sentence(motion.words) };
  if (!part || part.hold) {
    const again = PRESS_AGAIN.has(part?.hold);
    return { state: 'holding', title: again ? 'Let go, then press again' : 'Holding', words: again && part.hold === REENGAGE ? '' : sentence((part?.hold_text ?? 'no news from the arm yet').split('; ')[0]) };
  }
  if (edge) return { state: 'limit', title: motion.title, words: motion.words };
  if (part.limits.length) return { state: 'limit', title: sentence(part.limits[0]).slice(0, -1), words: 'The arm goes no faster or no further.' };
  return { state: 'moving', title: 'Moving', words: 'Let go to stop.' };
}

// Where forward lies for who holds the phone, in words. off: its yaw less the phone's [rad].
export function forwardWords(off) {
  const degrees = Math.round((Math.abs(off) * 180) / Math.PI);
  if (degrees < 10) return 'ahead';
  if (degrees > 150) return 'behind';
  return `${degrees}° ${off > 0 ? 'left' : 'right'}`;
}
