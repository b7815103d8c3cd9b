// The way to the bridge: a WebSocket for signalling, one peer connection for samples and events, one for video.

import { pageNow } from '/clock.js';
import { Connection } from '/connection.js';
import { takeTokenFromAddress, token } from '/token.js';

const RETRY_MS = [200, 400, 800, 1500, 2500];

export function canShowH264() {
  const codecs = globalThis.RTCRtpReceiver?.getCapabilities?.('video')?.codecs;
  return !codecs || codecs.some((codec) => codec.mimeType.toLowerCase() === 'video/h264');
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
  constructor(clock) {
    super();
    this.clock = clock;
    this.socket = null;
    this.samples = null;
    this.events = null;
    this.attempt = 0;
    this.replaced = false;
    this.refused = ''; // why the bridge lets this page not in; it does not try again
    this.pings = 0;
    this.sequence = 0;
    this.road = 'track'; // how pictures shall reach the screen
    takeTokenFromAddress();
    const url = new URL(location.href);
    this.workcell = url.searchParams.get('workcell') ?? '';
    this.operator = (url.searchParams.get('operator') ?? '').slice(0, 60);
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
    addEventListener('online', () => this.open());
  }

  get socketOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  open() {
    if (this.replaced || this.refused || (this.socket && this.socket.readyState <= WebSocket.OPEN)) return;
    clearTimeout(this.retry);
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => {
      this.attempt = 0;
      socket.send(JSON.stringify({
        type: 'hello',
        session: sessionStorage.getItem('cobalt.session') ?? '',
        workcell: this.workcell,
        operator: this.operator,
        h264: canShowH264(),
        token: token(),
        road: this.road,
      }));
      this.emit('state');
    };
    socket.onmessage = (message) => this.receive(message.data);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.closeMedia();
      this.emit('state');
      if (this.replaced || this.refused) return;
      const wait_ms = RETRY_MS[Math.min(this.attempt, RETRY_MS.length - 1)];
      this.attempt += 1;
      this.retry = setTimeout(() => this.open(), wait_ms);
    };
  }

  emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // Signals: on the WebSocket; on the events channel if that is all there is.
  send(message) {
    const text = JSON.stringify(message);
    if (this.socketOpen) this.socket.send(text);
    else if (this.events?.readyState === 'open') this.events.send(text);
    else return false;
    return true;
  }

  sendSample(message) {
    if (this.samples?.readyState !== 'open') return false;
    this.samples.send(JSON.stringify(message));
    return true;
  }

  receive(text) {
    const event = JSON.parse(text);
    if (event.type === 'session') {
      sessionStorage.setItem('cobalt.session', event.key);
      this.sequence = Math.max(this.sequence, event.sequence);
    } else if (event.type === 'replaced') {
      this.replaced = true;
    } else if (event.type === 'refused') {
      this.refused = event.text;
    } else if (event.type === 'offer') {
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
    if (message.type === 'pong') this.clock.addExchange(message.sent_ms, message.host_ms, pageNow());
    else this.emit('sample', message);
  }

  ping() {
    if (this.samples?.readyState !== 'open') return;
    this.pings += 1;
    if (this.pings < 12 || this.pings % 3 === 0) this.sendSample({ type: 'ping', id: this.pings, sent_ms: pageNow() });
  }

  watch() {
    if (!this.socketOpen) return;
    this.control.watch();
    this.video.watch();
  }

  closeMedia() {
    this.control.close();
    this.video.close();
    this.samples = this.events = null;
  }
}
