// The devices beside keys. Each finds out whether this browser can have it, and adds itself to the panel then.

import { addGamepad } from '/devices/gamepad.js';
import { addPhone } from '/devices/phone.js';
import { addSpaceMouse } from '/devices/spacemouse.js';
import { addVr } from '/devices/vr.js';

// page: { panel, driver, settings, cameras, notice(text, level), arm(), stop(), stale(), bar(), seenElsewhere(yes) }; arm() returns { motion, step }
// as the page shows it, stop() is the emergency stop, stale() tells a picture too old to drive by, bar() why the page
// cannot drive now, in a sentence, or '', and seenElsewhere() that the person sees
// all of it elsewhere than on the page, which may lie in the background then
export function addDevices(page) {
  addPhone(page);
  addGamepad(page);
  addSpaceMouse(page);
  addVr(page);
}
