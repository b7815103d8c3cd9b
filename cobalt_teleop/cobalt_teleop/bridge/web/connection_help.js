// Runs the connection test by itself, once, where live media does not come, and shows what it finds.

import { drawSteps, verdict } from '/connection_steps.js';
import { ConnectionTest } from '/connection_test.js';
import { token } from '/token.js';
import { set } from '/view.js';

const PATIENCE_MS = 8000;

export class ConnectionHelp {
  // `link` is what waits; `root` takes the steps.
  constructor({ link, root }) {
    Object.assign(this, { link, root });
    this.test = null;
  }

  // What the page says of its connection, with the test's findings once there are some.
  explain(state) {
    const waits = Math.max(this.link.video.waits_ms(), this.link.control.waits_ms()) > PATIENCE_MS;
    if (!waits || !this.link.socketOpen || !state.curtain) {
      set(this.root, 'hidden', true);
      if (!waits && this.test && !this.test.running) this.test = null; // the next wait is another one
      return state;
    }
    if (!this.test) {
      this.test = new ConnectionTest(token());
      const steps = document.createElement('div');
      const whole = document.createElement('a');
      Object.assign(whole, { href: '/check', textContent: 'The whole test' });
      this.root.replaceChildren(steps, whole);
      drawSteps(steps, this.test);
      this.test.run();
    }
    set(this.root, 'hidden', false);
    const { title, text } = verdict(this.test);
    return this.test.failed || this.test.running
      ? { ...state, title, detail: text }
      : { ...state, title: 'Live media waits', detail: 'The way to the server is clear: the workcell itself sends nothing. This page goes on when it does.' };
  }
}
