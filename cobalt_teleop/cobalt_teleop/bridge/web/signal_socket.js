// The WebSocket to the bridge: opened anew whenever it has gone, and given up when the network has swallowed it, which a
// browser by itself would notice in minutes. While the rest of the link goes on, another is opened beside one that does not
// answer, and nothing stops meanwhile.

import { pageNow } from '/clock.js';

const RETRY_MS = [200, 400, 800, 1000];
const OPENING_MS = [3000, 4000, 6000, 8000]; // how long one may take to open, before another is tried
const PING_MS = 1000;
const DEAD_MS = 2500; // one that answers no ping for so long is dead, or slow on a network that loses much
const ALL_SILENT_MS = 1000;
const AFTER_CHANGE_MS = 1200; // patience once this device has told of another network

export class SignalSocket {
  // `onOpen` says hello, `onText` takes what comes, `onState` is called when it has opened or gone, `onGone` when the
  // bridge has ended it. `silent_ms` tells for how long nothing has come on any way.
  constructor({ onOpen, onText, onState, onGone, silent_ms }) {
    Object.assign(this, { onOpen, onText, onState, onGone, silent_ms });
    this.socket = null;
    this.relief = null; // opens beside one that does not answer
    this.ended = false; // the bridge does not want this page: it does not try again
    this.attempt = 0;
    setInterval(() => this.watch(), 250);
    addEventListener('online', () => this.onNetworkChange());
    navigator.connection?.addEventListener?.('change', () => this.onNetworkChange());
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  send(text) {
    this.socket.send(text);
  }

  open() {
    if (this.ended || (this.socket && this.socket.readyState <= WebSocket.OPEN)) return;
    clearTimeout(this.retry);
    this.opening_ms = this.heard_ms = pageNow();
    this.pinged_ms = 0;
    this.socket = this.make();
  }

  make() {
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`);
    socket.onopen = () => {
      if (socket === this.relief) {
        this.relief = null;
        this.drop();
        this.socket = socket;
      }
      this.attempt = 0;
      this.heard_ms = pageNow();
      this.pinged_ms = 0;
      this.onOpen();
      this.onState();
    };
    socket.onmessage = ({ data }) => {
      this.heard_ms = pageNow();
      this.onText(data);
    };
    socket.onclose = () => {
      if (socket === this.relief) {
        this.relief = null;
        return;
      }
      this.drop();
      this.onGone();
      this.onState();
      if (this.ended) return;
      const wait_ms = RETRY_MS[Math.min(this.attempt, RETRY_MS.length - 1)];
      this.attempt += 1;
      this.retry = setTimeout(() => this.open(), wait_ms);
    };
    return socket;
  }

  // Hears no more of any that there is.
  drop() {
    for (const socket of [this.socket, this.relief]) {
      if (!socket) continue;
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    this.socket = this.relief = null;
  }

  // Gives this one up and tries another. The bridge keeps the session, and what runs beside the socket runs on.
  giveUp() {
    this.drop();
    this.attempt += 1;
    this.onState();
    this.open();
  }

  watch() {
    if (!this.socket || this.ended) return;
    const now_ms = pageNow();
    if (this.socket.readyState === WebSocket.CONNECTING) {
      if (now_ms - this.opening_ms > OPENING_MS[Math.min(this.attempt, OPENING_MS.length - 1)]) this.giveUp();
    } else if (this.isOpen) {
      if (now_ms - this.pinged_ms >= PING_MS) {
        this.pinged_ms = now_ms;
        this.send(JSON.stringify({ type: 'ping' }));
      }
      if (now_ms - this.heard_ms <= DEAD_MS) return;
      if (this.silent_ms() > ALL_SILENT_MS) this.giveUp();
      else if (!this.relief || now_ms - this.relieved_ms > OPENING_MS[0]) this.relieve(now_ms);
    }
  }

  relieve(now_ms) {
    if (this.relief) this.relief.close();
    this.relieved_ms = now_ms;
    this.relief = this.make();
  }

  // Another network, or one where there was none: what stood on the old one is asked at once, and given little time.
  onNetworkChange() {
    if (this.isOpen) {
      this.heard_ms = Math.min(this.heard_ms, pageNow() - DEAD_MS + AFTER_CHANGE_MS);
      this.pinged_ms = 0;
      this.watch();
    } else if (this.socket?.readyState === WebSocket.CONNECTING) {
      this.attempt = 0;
      this.giveUp();
    } else {
      this.attempt = 0;
      this.open();
    }
  }
}
