// The way to the bridge: a WebSocket for signalling, one peer connection for samples and events, one for video.

import { pageNow } from '/clock.js';
import { Connection } from '/connection.js';
import { LinkMeter } from '/link_quality.js';
import { storedName } from '/lobby.js';
import { SignalSocket } from '/signal_socket.js';
import { isCompanion, sessionKey, takeTokenFromAddress, token } from '/token.js';

const MOST_WAITING = 2000; // bytes of samples that may wait for the network: the newest counts

const HEARD_MS = 1000; // of a connection that lives something came in this time ...
const MOVING_MS = 4000; // ... or in this: over another network it takes two seconds to find its way, once
const RECOVERY_MS = 1200; // what was kept when the socket came anew is heard again in this time, or made anew

const CODECS = ['h264', 'vp8'];

// Codecs that a video element of this browser can show; Debian's Firefox has no H.264.
export function trackCodecs() {
  const known = globalThis.RTCRtpReceiver?.getCapabilities?.('video')?.codecs;
  return CODECS.filter((name) => !known || known.some((codec) => codec.mimeType.toLowerCase() === `video/${name}`));
}

// What is missing in this browser, in words; empty if nothing is.
export function whatIsMissing() {
  if (!('WebSocket' in globalThis)) return 'This browser has no WebSocket. Use a current Chrome, Edge, Firefox or Safari.';
  if (!('RTCPeerConnection' in globalThis)) {
    return 'This browser has no WebRTC, or it is switched off. Use a current Chrome, Edge, Firefox or Safari.';
  }
  return '';
}

export class Link extends EventTarget {
  // pictured_ms: tells when a picture came to the screen last.
  constructor(clock, pictured_ms) {
    super();
    Object.assign(this, { clock, pictured_ms });
    this.samples = null;
    this.events = null;
    this.replaced = false;
    this.refused = ''; // why the bridge lets this page not in; it does not try again
    this.kept_ms = null; // since when connections are kept; null once it is known whether they live
    this.pings = 0;
    this.sequence = 0;
    this.heard_ms = this.sampled_ms = pageNow(); // when anything came, and when something came on the samples channel
    this.meter = new LinkMeter();
    this.road = 'track'; // how pictures shall reach the screen
    takeTokenFromAddress();
    const url = new URL(location.href);
    this.workcell = url.searchParams.get('workcell') ?? '';
    this.operator = (url.searchParams.get('operator') ?? storedName()).slice(0, 60);
    const connection = (kind, what, restart, onPeer) => new Connection(kind, {
      send: (message) => this.send(message),
      restart,
      onPeer,
      onState: () => this.emit('state'),
      onError: (error) => this.emit('event', { type: 'notice', level: 'error', text: `${what} did not start: ${error.message}` }),
    });
    this.control = connection('control', 'Control', () => this.send({ type: 'restart_control' }), (peer) => this.equipControl(peer));
    this.video = connection('video', 'Live video', () => this.restartVideo(), (peer, offer) => this.emit('video', { peer, offer }));
    setInterval(() => this.ping(), 250);
    setInterval(() => this.watch(), 500);
    this.socket = new SignalSocket({
      onOpen: () => this.hello(),
      onText: (text) => this.receive(text),
      onState: () => this.emit('state'),
      onGone: () => this.closeMedia(),
      silent_ms: () => this.silent_ms,
    });
  }

  get socketOpen() {
    return this.socket.isOpen;
  }

  // For how long nothing at all has come, on any way.
  get silent_ms() {
    return pageNow() - this.heard_ms;
  }

  open() {
    this.socket.open();
  }

  hello() {
    this.emit('hello');
    const live = this.takeLive();
    this.kept_ms = live.some(Boolean) ? pageNow() : null;
    this.socket.send(JSON.stringify({
      type: 'hello',
      session: sessionKey(),
      workcell: this.workcell,
      operator: this.operator,
      codecs: isCompanion() ? [] : trackCodecs(), // its pictures are on the other screen
      token: token(),
      road: this.road,
      live,
    }));
  }

  // Numbers of the offers whose connections live, or may find their way over another network: the bridge lets them be
  // where the socket alone is made anew.
  takeLive() {
    const silent_ms = pageNow() - this.sampled_ms;
    return [this.control, this.video].map((connection) => {
      const { state, offer, moved } = connection;
      if (state !== 'connected' || (offer.road ?? this.road) !== this.road) return 0;
      if (silent_ms > (moved ? HEARD_MS : MOVING_MS)) return 0;
      connection.moved = true;
      return offer.number;
    });
  }

  emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // Signals: on the WebSocket; on the events channel if that is all there is.
  send(message) {
    const text = JSON.stringify(message);
    const ways = [this.socketOpen && this.socket, this.events?.readyState === 'open' && this.events].filter(Boolean);
    // One of them may be dead and not know it yet: a stop takes both.
    for (const way of message.type === 'emergency_stop' ? ways : ways.slice(0, 1)) way.send(text);
    return ways.length > 0;
  }

  sendSample(message) {
    if (this.samples?.readyState !== 'open' || this.samples.bufferedAmount > MOST_WAITING) return false;
    this.samples.send(JSON.stringify(message));
    return true;
  }

  receive(text) {
    this.heard_ms = pageNow();
    const event = JSON.parse(text);
    if (event.type === 'pong') return;
    if (event.type === 'session') {
      sessionStorage.setItem('cobalt.session', event.key);
      this.sequence = Math.max(this.sequence, event.sequence);
    } else if (event.type === 'replaced') {
      this.replaced = this.socket.ended = true;
    } else if (event.type === 'refused') {
      this.refused = event.text;
      this.socket.ended = true;
    } else if (event.type === 'offer') {
      this.kept_ms = null;
      this[event.connection].answer(event);
      return;
    }
    this.emit('event', event);
  }

  restartVideo() {
    this.send({ type: 'restart_video', road: this.road });
  }

  equipControl(peer) {
    this.samples = this.events = null;
    this.meter.restart();
    peer.ondatachannel = ({ channel }) => {
      if (channel.label === 'samples') {
        this.samples = channel;
        this.pings = 0;
        channel.onopen = () => this.emit('state');
        channel.onmessage = (message) => this.receiveSample(JSON.parse(message.data));
      } else if (channel.label === 'events') {
        this.events = channel;
        channel.onmessage = (message) => this.receive(message.data);
      }
    };
  }

  receiveSample(message) {
    this.heard_ms = this.sampled_ms = pageNow();
    if (message.type === 'pong') {
      this.clock.addExchange(message.sent_ms, message.host_ms, pageNow());
      this.meter.onPong(message.id, pageNow());
    } else this.emit('sample', message);
  }

  ping() {
    if (this.samples?.readyState !== 'open') return;
    this.pings += 1;
    if (this.pings >= 12 && this.pings % 2) return;
    if (this.sendSample({ type: 'ping', id: this.pings, sent_ms: pageNow() })) this.meter.onPing(this.pings, pageNow());
  }

  watch() {
    if (!this.socketOpen) return;
    if (this.kept_ms !== null && pageNow() - this.kept_ms > RECOVERY_MS) {
      if (this.sampled_ms < this.kept_ms) this.control.renew();
      if (this.video.peer && this.pictured_ms() < this.kept_ms) this.video.renew();
      this.kept_ms = null;
    }
    this.control.watch();
    this.video.watch();
  }

  closeMedia() {
    this.control.close();
    this.video.close();
    this.samples = this.events = null;
  }
}
