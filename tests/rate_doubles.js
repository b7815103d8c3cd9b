// Doubles of a gamepad and of a SpaceMouse, on the page's side: what `navigator` would tell of real ones.

const gamepad = {
  id: 'Xbox Wireless Controller (STANDARD GAMEPAD Vendor: 045e Product: 0b13)', index: 0, mapping: 'standard', connected: true, timestamp: 0,
  axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 })),
};
let pluggedIn = false;
Object.defineProperty(navigator, 'getGamepads', { value: () => [pluggedIn ? gamepad : null, null, null, null], configurable: true });

function tell(name) {
  dispatchEvent(Object.assign(new Event(name), { gamepad }));
}

// A gamepad in two hands.
window.pad = {
  gamepad,
  plug() { pluggedIn = true; tell('gamepadconnected'); },
  unplug() { pluggedIn = false; tell('gamepaddisconnected'); },
  press(...buttons) { for (const at of buttons) gamepad.buttons[at] = { pressed: true, touched: true, value: 1 }; },
  release(...buttons) { for (const at of buttons) gamepad.buttons[at] = { pressed: false, touched: false, value: 0 }; },
  push(...axes) { gamepad.axes = axes; },
};

class Mouse extends EventTarget {
  constructor({ vendorId = 0x256f, productId = 0xc635, productName = 'SpaceMouse Compact', whole = false, refuses = false } = {}) {
    super();
    Object.assign(this, { vendorId, productId, productName, whole, refuses, opened: false, axes: Array(6).fill(0), reaches: true });
    this.collections = [{ usagePage: 1, usage: 8 }];
    this.zeros = 0;
    setInterval(() => this.report(), 16);
  }

  async open() {
    if (this.refuses) throw new DOMException('Failed to open the device.', 'NotAllowedError');
    this.opened = true;
  }

  // While the cap is pushed it reports again and again, and three times that it is at rest.
  report() {
    if (this.axes.some(Boolean)) this.zeros = 3;
    else if (this.zeros > 0) this.zeros -= 1;
    else return;
    if (!this.opened || !this.reaches || !hid.plugged.includes(this)) return;
    if (this.whole) {
      this.say(1, this.axes);
    } else {
      this.say(1, this.axes.slice(0, 3));
      this.say(2, this.axes.slice(3));
    }
  }

  say(reportId, axes) {
    const data = new DataView(new ArrayBuffer(axes.length * 2));
    axes.forEach((value, index) => data.setInt16(index * 2, Math.round(value * 350), true));
    this.dispatchEvent(Object.assign(new Event('inputreport'), { device: this, reportId, data }));
  }

  press(buttons) {
    this.dispatchEvent(Object.assign(new Event('inputreport'), { device: this, reportId: 3, data: new DataView(Uint8Array.of(buttons, 0).buffer) }));
  }
}

class Hid extends EventTarget {
  plugged = [];
  granted = [];
  offered = null; // the mouse that a person picks in the browser's own window
  filters = null;

  async getDevices() { return this.granted.filter((mouse) => this.plugged.includes(mouse)); }

  async requestDevice({ filters }) {
    this.filters = filters;
    if (!this.offered) return [];
    this.granted.push(this.offered);
    return [this.offered];
  }
}
const hid = new Hid();
Object.defineProperty(navigator, 'hid', { value: hid, configurable: true });

// A SpaceMouse under a hand.
window.cap = {
  hid,
  make(options) { return new Mouse(options); },
  plug(mouse) { hid.plugged.push(mouse); if (hid.granted.includes(mouse)) hid.dispatchEvent(Object.assign(new Event('connect'), { device: mouse })); },
  unplug(mouse) {
    hid.plugged = hid.plugged.filter((one) => one !== mouse);
    mouse.opened = false;
    hid.dispatchEvent(Object.assign(new Event('disconnect'), { device: mouse }));
  },
};
