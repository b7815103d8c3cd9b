// What all devices of this page share: who drives, along whose axes, and why nothing may move now.

import { pageNow } from '/clock.js';
import { axesFor } from '/devices/axes.js';

export class Driver {
  // page: { inControl(), away(), mayMove(), sample(message), camera(), parts(), shownFrame(), stale() },
  // the page's own knowledge; settings: of the person.
  constructor(page, settings) {
    Object.assign(this, { page, settings });
    this.streams = [];
    this.inControl = false;
  }

  add(stream) {
    this.streams.push(stream);
  }

  get engaged() {
    return this.streams.some((stream) => stream.engaged);
  }

  get parts() {
    return this.page.parts();
  }

  // Whether a clutch may be pressed now; asks for control if nobody has it, and says why if it may not.
  mayPress() {
    return !this.page.away() && this.page.mayMove();
  }

  letGoAll(reason) {
    for (const stream of this.streams) stream.letGo(reason);
  }

  // The bridge wants a device of this page let go of.
  letGo({ device, part, text }) {
    for (const stream of this.streams) if (stream.device === device && stream.part === part) stream.letGo(text);
  }

  setInControl(inControl) {
    if (inControl === this.inControl) return;
    this.inControl = inControl;
    for (const stream of this.streams) stream.setInControl(inControl);
  }

  // Called again and again: what takes the page's attention away takes every hand off.
  watch() {
    const away = this.page.away();
    if (away) this.letGoAll(away);
    else if (this.engaged && this.page.inControl() && this.page.stale()) this.letGoAll('your picture is too old');
  }

  say(sample, heading) {
    if (!this.page.inControl()) return;
    this.page.sample({
      type: 'device',
      ...sample,
      device_ms: pageNow(),
      ...axesFor(this.settings.get('reference'), this.page.camera(), heading),
      frame: this.page.shownFrame(),
    });
  }
}
