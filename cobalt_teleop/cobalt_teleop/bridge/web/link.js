// The way to the bridge: a WebSocket for signalling, a peer connection for video, samples and events.

import { pageNow } from '/clock.js';

const RETRY_MS = [200, 400, 800, 1500, 2500];
const MEDIA_PATIENCE_MS = 4000;

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
    this.connection = null;
    this.samples = null;
    this.events = null;
    this.attempt = 0;
    this.replaced = false;
    this.mediaSince_ms = 0;
    this.firstOffer_ms = null;
    this.pings = 0;
    this.sequence = 0;
    const url = new URL(location.href);
    this.workcell = url.searchParams.get('workcell') ?? '';
    this.operator = (url.searchParams.get('operator') ?? '').slice(0, 60);
    setInterval(() => this.ping(), 250);
    setInterval(() => this.watchMedia(), 500);
    addEventListener('online', () => this.open());
  }

  get socketOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  get mediaState() {
    return this.connection?.connectionState ?? 'none';
  }

  // How long the first connection for media has been coming.
  mediaWaits_ms() {
    return this.connection && this.mediaState !== 'connected' && this.firstOffer_ms ? pageNow() - this.firstOffer_ms : 0;
  }

  open() {
    if (this.replaced || (this.socket && this.socket.readyState <= WebSocket.OPEN)) return;
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
      }));
      this.emit('state');
    };
    socket.onmessage = (message) => this.receive(message.data);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.closeMedia();
      this.emit('state');
      if (this.replaced) return;
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
    } else if (event.type === 'offer') {
      this.answer(event);
      return;
    }
    this.emit('event', event);
  }

  async answer({ sdp, cameras }) {
    this.closeMedia();
    const connection = new RTCPeerConnection({ iceServers: [] });
    this.connection = connection;
    this.mediaSince_ms = pageNow();
    this.firstOffer_ms ??= pageNow();
    connection.ontrack = ({ track, transceiver, receiver }) => {
      if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;
      if ('playoutDelayHint' in receiver) receiver.playoutDelayHint = 0;
      this.emit('track', { camera: cameras[transceiver.mid], track, mid: transceiver.mid });
    };
    connection.ondatachannel = ({ channel }) => {
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
    connection.onconnectionstatechange = () => {
      if (connection.connectionState === 'connected') {
        this.mediaSince_ms = pageNow();
        this.firstOffer_ms = null;
      }
      this.emit('state');
    };
    try {
      await connection.setRemoteDescription({ type: 'offer', sdp });
      await connection.setLocalDescription(await connection.createAnswer());
      await gathered(connection);
      if (this.connection === connection) this.send({ type: 'answer', sdp: connection.localDescription.sdp });
    } catch (error) {
      this.emit('event', { type: 'notice', level: 'error', text: `Live video did not start: ${error.message}` });
    }
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

  // Asks for a new connection when this one has failed.
  watchMedia() {
    if (!this.socketOpen || !this.connection) return;
    const state = this.connection.connectionState;
    const waited_ms = pageNow() - this.mediaSince_ms;
    if (state === 'connected') return;
    if (state === 'failed' || state === 'closed' || waited_ms > 2 * MEDIA_PATIENCE_MS) this.restartMedia();
  }

  restartMedia() {
    if (pageNow() - this.mediaSince_ms < MEDIA_PATIENCE_MS) return;
    this.mediaSince_ms = pageNow();
    this.send({ type: 'restart_media' });
  }

  closeMedia() {
    const connection = this.connection;
    this.connection = this.samples = this.events = null;
    if (connection) {
      connection.ontrack = connection.ondatachannel = connection.onconnectionstatechange = null;
      connection.close();
    }
  }
}

function gathered(connection) {
  if (connection.iceGatheringState === 'complete') return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => connection.iceGatheringState === 'complete' && resolve();
    connection.addEventListener('icegatheringstatechange', done);
    setTimeout(resolve, 2000);
  });
}
