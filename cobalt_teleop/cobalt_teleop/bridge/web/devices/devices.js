// The devices beside keys. Each finds out whether this browser can have it, and adds itself to the panel then.

import { addGamepad } from '/devices/gamepad.js';
import { addPhone } from '/devices/phone.js';
import { addSpaceMouse } from '/devices/spacemouse.js';

// page: { panel, driver, settings, cameras, notice(text, level), arm() }; arm() returns { motion, step } as the page shows it
export function addDevices(page) {
  addPhone(page);
  addGamepad(page);
  addSpaceMouse(page);
}
