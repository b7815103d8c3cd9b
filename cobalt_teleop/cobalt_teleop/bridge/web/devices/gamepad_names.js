// What gamepads and their controls are called.

// What makers call the controls. id: as browsers name gamepads.
export function namesOf(id) {
  if (/dualsense|dualshock|054c|playstation/i.test(id)) return { shoulders: 'L1 or R1', left: 'L1', right: 'R1', open: 'L2', close: 'R2' };
  if (/nintendo|057e|pro controller|joy-con/i.test(id)) return { shoulders: 'L or R', left: 'L', right: 'R', open: 'ZL', close: 'ZR' };
  return { shoulders: 'LB or RB', left: 'LB', right: 'RB', open: 'LT', close: 'RT' };
}

// What browsers call a gamepad, without its numbers.
export function plainName(id) {
  return id.replace(/\s*\([^)]*(?:standard gamepad|vendor:)[^)]*\).*$/i, '').replace(/^[0-9a-f]{1,4}-[0-9a-f]{1,4}-/i, '').trim() || 'Gamepad';
}
