// What is painted on the boards in the headset: how the hands are, the episode, what to press; and the large words.

import { COLOURS, rounded, write, writeLines } from '/devices/vr_board.js';

export const STATE_SIZE = [1280, 452];
export const BANNER_SIZE = [1280, 300];
export const FLOOR_SIZE = [512, 512];

// Each state has a colour, a sign of its own, and words.
const SIGNS = {
  rest: ['○', COLOURS.dim], moving: ['●', COLOURS.blue], limit: ['!', COLOURS.amber], lost: ['?', COLOURS.amber], absent: ['–', COLOURS.dim],
  holding: ['❚❚', COLOURS.text], stopped: ['✕', COLOURS.stop],
};
const FILLS = { moving: '#173067', limit: '#33290f', lost: '#33290f', stopped: '#33110d' };

const EDGE = 28;

function paintHand(context, { name, state, title, words }, x, width, size) {
  const [sign, colour] = SIGNS[state];
  rounded(context, FILLS[state] ?? COLOURS.raised, [x, EDGE, width, 170], 18);
  rounded(context, colour, [x, EDGE, 10, 170], [18, 0, 0, 18]);
  write(context, sign, [x + 62, EDGE + (name ? 86 : 104)], { size: state === 'holding' ? 34 : 52, weight: 800, colour, align: 'center' });
  const left = x + 112;
  if (name) write(context, name, [x + 62, EDGE + 140], { size: 28, weight: 600, colour: COLOURS.soft, align: 'center' });
  const rows = writeLines(context, title, [left, EDGE + 58], { width: width - 126, lines: 1, step: 0, size, weight: 660 });
  writeLines(context, words, [left, EDGE + 58 + rows * 44], { width: width - 126, lines: 2, step: 36, size: 29, colour: COLOURS.soft });
}

// words: { hands: [{ name, state, title, words }], task, clock, phase, link: { word, level }, forward, notice }
export function paintState(context, { hands, task, clock, phase, link, forward, notice }) {
  const [width, height] = STATE_SIZE;
  rounded(context, `${COLOURS.panel}f2`, [0, 0, width, height], 28);
  const each = (width - 2 * EDGE - (hands.length - 1) * 20) / hands.length;
  hands.forEach((hand, index) => paintHand(context, hand, EDGE + index * (each + 20), each, hands.length > 1 ? 35 : 42));
  const top = 250;
  write(context, clock, [width - EDGE, top + 8], { size: 52, weight: 640, align: 'right' });
  write(context, phase, [width - EDGE, top + 48], { size: 26, colour: COLOURS.dim, align: 'right' });
  writeLines(context, notice || task, [EDGE, top], { width: width - 420, lines: 2, step: 40, size: 32, weight: 560, colour: notice ? COLOURS.amber : COLOURS.text });
  context.fillStyle = COLOURS.line;
  context.fillRect(EDGE, 322, width - 2 * EDGE, 2);
  const bad = ['poor', 'lost'].includes(link.level);
  write(context, `Forward: ${forward}`, [EDGE, 366], { size: 28, weight: 560, colour: COLOURS.soft });
  write(context, `Link: ${link.word}`, [width - EDGE, 366], { size: 28, weight: 560, colour: bad ? COLOURS.amber : COLOURS.soft, align: 'right' });
  write(context, 'Grip: move    Trigger: gripper    Stick aside: turn forward    Hold B or Y: emergency stop', [EDGE, 416], { size: 26, colour: COLOURS.dim });
}

// words: { level: warn or stop, title, words, share }
export function paintBanner(context, { level, title, words, share }) {
  const [width, height] = BANNER_SIZE;
  const stop = level === 'stop';
  rounded(context, stop ? COLOURS.stopDeep : '#33290ff5', [0, 0, width, height], 36);
  context.strokeStyle = stop ? COLOURS.text : COLOURS.amber;
  context.lineWidth = 8;
  context.beginPath();
  context.roundRect(4, 4, width - 8, height - 8, 32);
  context.stroke();
  const colour = stop ? COLOURS.text : COLOURS.amber;
  write(context, stop ? '✕' : '?', [110, 196], { size: 130, weight: 800, colour, align: 'center' });
  writeLines(context, title, [210, 130], { width: width - 250, lines: 1, step: 0, size: 66, weight: 700 });
  writeLines(context, words, [210, 196], { width: width - 250, lines: 2, step: 48, size: 40, colour: COLOURS.text });
  if (share) rounded(context, COLOURS.text, [210, 240, (width - 260) * share, 18], 9);
}

// The floor: rings to stand on, and an arrow to where forward is.
export function paintFloor(context) {
  const [width] = FLOOR_SIZE;
  const middle = width / 2;
  context.strokeStyle = '#ffffff22';
  context.lineWidth = 2;
  for (const radius of [64, 128, 192, 250]) {
    context.beginPath();
    context.arc(middle, middle, radius, 0, 2 * Math.PI);
    context.stroke();
  }
  context.fillStyle = COLOURS.blue;
  context.beginPath();
  for (const [x, y] of [[0, -118], [30, -78], [11, -84], [11, -34], [-11, -34], [-11, -84], [-30, -78]]) context.lineTo(middle + x, middle + y);
  context.fill();
  write(context, 'forward', [middle, middle - 130], { size: 22, weight: 600, colour: COLOURS.soft, align: 'center' });
}
