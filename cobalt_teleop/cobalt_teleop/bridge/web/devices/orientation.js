// How the phone is turned, by its sensors.

import { continuous, turnFromAngles } from '/devices/rotation.js';

const FIRST_MS = 1000; // a phone that has sensors tells by then

export class Orientation {
  // onTurn(turn): [x, y, z, w], in axes of REP 103.
  constructor(onTurn) {
    this.onTurn = onTurn;
    this.turn = [0, 0, 0, 1];
    this.listener = (event) => this.onEvent(event);
    this.first = null;
  }

  // Must be called by a tap, for the browsers that ask the person. Returns 'yes', 'refused', or 'none' without sensors.
  async start() {
    const Events = window.DeviceOrientationEvent;
    if (!Events) return 'none';
    if (Events.requestPermission) {
      const answer = await Events.requestPermission().catch(() => 'denied');
      if (answer !== 'granted') return 'refused';
    }
    const seen = new Promise((resolve) => { this.first = resolve; });
    addEventListener('deviceorientation', this.listener);
    const answer = await Promise.race([seen, new Promise((resolve) => { setTimeout(resolve, FIRST_MS, 'none'); })]);
    if (answer === 'none') this.stop();
    return answer;
  }

  stop() {
    removeEventListener('deviceorientation', this.listener);
  }

  onEvent({ alpha, beta, gamma }) {
    if (alpha === null || beta === null || gamma === null) return; // a computer without sensors says that once
    this.turn = continuous(turnFromAngles(alpha, beta, gamma, screen.orientation?.angle ?? 0), this.turn);
    this.first('yes');
    this.onTurn(this.turn);
  }
}
