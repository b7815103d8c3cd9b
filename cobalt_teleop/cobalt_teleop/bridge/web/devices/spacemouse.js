// A SpaceMouse of this computer, by the browser's WebHID. The first push of its cap engages, half a second of rest lets go.

import { pageNow } from '/clock.js';
import { DeviceStream } from '/devices/device_stream.js';
import { RateSection } from '/devices/rate_section.js';
import { SpaceMousePicture } from '/devices/spacemouse_picture.js';
import { AT_REST, after, together } from '/devices/spacemouse_reports.js';

const LINGER_MS = 500;
const SILENT_MS = 250; // a cap that is pushed reports again and again; one that does not is out of reach
const HELD_BEFORE_MS = 100; // what is heard so soon was pushed before anybody meant to drive
const PUSHED = 0.05; // share of an axis; below the device node's own dead zone
const DRAWN_MS = 50;

const SIX_AXES = { usagePage: 0x01, usage: 0x08 };
const OLD_MODELS = [0xc603, 0xc605, 0xc606, 0xc621, 0xc623, 0xc625, 0xc626, 0xc627, 0xc628, 0xc629, 0xc62b];
const FILTERS = [{ vendorId: 0x256f, ...SIX_AXES }, ...OLD_MODELS.map((productId) => ({ vendorId: 0x046d, productId, ...SIX_AXES }))];

const ELSEWHERE = 'Plugged into the robot’s own computer, it drives without a browser. Keys and the buttons on this page work here.';

export function addSpaceMouse(page) {
  // Phones and tablets have no WebHID, and nobody looks for it there.
  if (navigator.hid || matchMedia('(any-pointer: fine)').matches) page.panel.add(new SpaceMouse(page));
}

function isSpaceMouse({ vendorId, productId, collections }) {
  const known = vendorId === 0x256f || (vendorId === 0x046d && OLD_MODELS.includes(productId));
  return known && collections.some(({ usagePage, usage }) => usagePage === SIX_AXES.usagePage && usage === SIX_AXES.usage);
}

class SpaceMouse {
  name = 'spacemouse';
  title = 'SpaceMouse';
  kind = 'rates';

  // page: see devices.js.
  constructor({ panel, driver, settings }) {
    Object.assign(this, { panel, driver, settings });
    this.section = new RateSection(this.name, { onArm: (name) => this.chooseArm(name) });
    this.root = this.section.root;
    this.picture = new SpaceMousePicture();
    this.connect = document.createElement('button');
    Object.assign(this.connect, { type: 'button', className: 'primary rates-connect', textContent: 'Connect a SpaceMouse' });
    this.connect.addEventListener('click', () => this.ask());
    this.section.body.append(this.connect, this.picture.root);
    this.stream = new DeviceStream(this.name, driver, { onLetGo: (reason) => this.stop(`Let go: ${reason}.`) });
    this.open = new Map(); // interface -> what it says
    this.state = AT_REST;
    this.active = this.pushed = false;
    this.mustRest = false; // what is pushed now was not meant to drive
    this.active_ms = this.heard_ms = this.opened_ms = -Infinity;
    this.why = ''; // it does not drive, in a sentence
    this.trouble = ''; // it cannot be opened
    if (navigator.hid) this.listen();
    setInterval(() => this.watch(), DRAWN_MS);
    this.draw();
  }

  listen() {
    navigator.hid.addEventListener('connect', ({ device }) => this.use([device]));
    navigator.hid.addEventListener('disconnect', ({ device }) => this.lose(device));
    navigator.hid.getDevices().then((devices) => this.use(devices)).catch(() => {});
  }

  show() {
    this.draw();
  }

  hide() {
    this.stream.letGo('another way to drive was chosen');
  }

  chooseArm(name) {
    this.stream.letGo('another arm was chosen');
    this.stream.part = name;
    this.draw();
  }

  async ask() {
    this.trouble = '';
    try {
      await this.use(await navigator.hid.requestDevice({ filters: FILTERS }));
    } catch (error) {
      this.trouble = `The browser did not let this page choose one (${error.message}).`;
    }
    this.draw();
  }

  async use(devices) {
    for (const device of devices) {
      if (!isSpaceMouse(device) || this.open.has(device)) continue;
      try {
        if (!device.opened) await device.open();
      } catch (error) {
        const linux = navigator.userAgent.includes('Linux') ? ' On Linux it needs a udev rule first: docs/devices.md has it.' : '';
        this.trouble = `The ${device.productName || 'SpaceMouse'} could not be opened (${error.message}). End other programs that use it, such as 3DxWare.${linux}`;
        continue;
      }
      this.trouble = this.why = '';
      this.open.set(device, AT_REST);
      this.opened_ms = pageNow();
      device.addEventListener('inputreport', ({ reportId, data }) => this.hear(device, reportId, data));
    }
    this.draw();
  }

  lose(device) {
    if (!this.open.delete(device)) return;
    this.stream.letGo('the SpaceMouse was unplugged');
    this.state = together([...this.open.values()]);
    this.why = 'The SpaceMouse was unplugged. Plug it in again, and it goes on from here.';
    this.draw();
  }

  hear(device, number, data) {
    if (!this.open.has(device)) return;
    this.open.set(device, after(this.open.get(device), number, data));
    this.state = together([...this.open.values()]);
    this.heard_ms = pageNow();
    const { axes, buttons, pressCounts } = this.state;
    const wasActive = this.active;
    this.pushed = axes.some((value) => Math.abs(value) > PUSHED);
    this.active = this.pushed || buttons !== 0;
    const meant = this.panel.chosen === this && this.heard_ms - this.opened_ms >= HELD_BEFORE_MS; // else it was bumped, or held since before
    if (!this.active) this.mustRest = false;
    else if (!wasActive && !meant) this.mustRest = true;
    if (this.active && !this.mustRest) this.active_ms = this.heard_ms;
    this.stream.update({ axes, buttons, pressCounts, scale: this.settings.get('speed') });
    if (this.active && !this.mustRest && !this.stream.engaged) this.press();
  }

  press() {
    this.why = '';
    if (!this.stream.press()) this.stop(`Not now: ${this.driver.page.away() || 'the arm is not yours to drive'}.`);
  }

  // It takes a fresh push to drive again.
  stop(why) {
    this.why = why;
    this.mustRest = this.active;
  }

  watch() {
    const now_ms = pageNow();
    if (this.stream.engaged && this.pushed && now_ms - this.heard_ms > SILENT_MS) this.stream.letGo('the SpaceMouse is silent: out of reach, or its battery is empty');
    if (this.stream.engaged && now_ms - this.active_ms > LINGER_MS && !this.active) this.stream.release();
    if (!this.root.hidden) this.draw();
  }

  draw() {
    const { section, stream, open } = this;
    const [device] = open.keys();
    section.showArms(this.driver.parts, stream.part || this.driver.parts[0]);
    if (this.connect.hidden !== Boolean(device)) this.connect.hidden = Boolean(device);
    this.picture.show(this.state);
    const title = device?.productName || 'SpaceMouse';
    if (!navigator.hid) {
      const how = isSecureContext ? 'Open this page in Chrome, Edge or Opera on a computer.' : 'It needs a page that is opened by https, in Chrome, Edge or Opera.';
      section.say('missing', 'This browser cannot reach a SpaceMouse: it has no WebHID.', `${how} ${ELSEWHERE}`);
    } else if (!device) {
      section.say('wait', this.why ? 'The SpaceMouse is gone' : 'No SpaceMouse yet', this.trouble || this.why || 'Plug it in, and choose it once: the browser remembers it.');
    } else if (stream.engaged) {
      section.say('on', title, 'You drive. Let the cap come to rest, and the arm stands.');
    } else if (this.why || this.mustRest) {
      section.say('wait', title, `${this.why} ${this.mustRest ? 'Let go of the cap, then push it again.' : 'Push the cap to drive.'}`);
    } else {
      section.say('ready', title, 'Push the cap to drive.');
    }
  }
}
