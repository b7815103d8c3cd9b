// What a SpaceMouse says: its input reports. Report 1 has x, y, z as 16-bit integers of about -350 to 350; on newer models
// Rx, Ry, Rz follow in it, on older ones they come in report 2. Report 3 has one bit a button. x is to the right, y towards
// the person, z down.

const FULL = 350;
const BUTTONS = 32;

const share = (value) => Math.max(-1, Math.min(1, value / FULL));

export const AT_REST = Object.freeze({ axes: Object.freeze(Array(6).fill(0)), buttons: 0, pressCounts: Object.freeze(Array(BUTTONS).fill(0)) });

// Returns the state after a report, the same if it says nothing about axes or buttons. data: a DataView without the number.
export function after(state, number, data) {
  const read = (count) => Array.from({ length: count }, (_, index) => share(data.getInt16(index * 2, true)));
  if (number === 1 && data.byteLength >= 12) return { ...state, axes: read(6) };
  if (number === 1 && data.byteLength >= 6) return { ...state, axes: [...read(3), ...state.axes.slice(3)] };
  if (number === 2 && data.byteLength >= 6) return { ...state, axes: [...state.axes.slice(0, 3), ...read(3)] };
  if (number !== 3) return state;
  let buttons = 0;
  for (let index = 0; index < Math.min(data.byteLength, BUTTONS / 8); index += 1) buttons += data.getUint8(index) * 256 ** index;
  const pressed = buttons & ~state.buttons;
  return { ...state, buttons, pressCounts: state.pressCounts.map((count, index) => count + ((pressed >>> index) & 1)) };
}

// What the interfaces of one receiver say together.
export function together(states) {
  return states.reduce((sum, state) => ({
    axes: sum.axes.map((value, index) => Math.max(-1, Math.min(1, value + state.axes[index]))),
    buttons: (sum.buttons | state.buttons) >>> 0,
    pressCounts: sum.pressCounts.map((count, index) => count + state.pressCounts[index]),
  }), AT_REST);
}
