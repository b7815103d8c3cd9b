// Goes the way of live media step by step, and names the step that fails and what can be done about it.

import { addressesOf, gathered, KIND_WORDS, notConnected, trips } from '/connection_advice.js';
import { pageNow } from '/clock.js';
import { sessionKey } from '/token.js';

const SOCKET_MS = 6000;
const GATHER_MS = 4000;
const CONNECT_MS = 8000;
const VIDEO_MS = 8000;
const SERVERS_MS = 7000;
const PINGS = 10;

const STEPS = [
  ['Page', (test) => test.lookAtPage()],
  ['Browser', (test) => test.lookAtBrowser()],
  ['Server', (test) => test.openSocket()],
  ['Permission', (test) => test.askForOffer()],
  ['Network addresses', (test) => test.gather()],
  ['Connection for live media', (test) => test.connect()],
  ['Messages there and back', (test) => test.exchange()],
  ['Moving picture', (test) => test.watch()],
];

class Failure extends Error {
  constructor(text, advice) {
    super(text);
    this.advice = advice;
  }
}

export class ConnectionTest extends EventTarget {
  // `token`: what lets this page in; empty on the server's own machine.
  constructor(token) {
    super();
    this.token = token;
    this.steps = STEPS.map(([title, take]) => ({ title, take, state: 'waiting', text: '', advice: '' }));
    this.running = false;
    this.video = null; // the stream of the moving picture
  }

  get failed() {
    return this.steps.find((step) => step.state === 'failed') ?? null;
  }

  get done() {
    return !this.running && this.steps.every((step) => step.state !== 'waiting' && step.state !== 'running');
  }

  // What a person sends to whoever helps.
  report() {
    const lines = this.steps.map((step) => `${step.state.padEnd(8)} ${step.title}: ${[step.text, step.advice].filter(Boolean).join(' ')}`);
    return [`Connection test of ${location.origin}, ${new Date().toISOString()}`, navigator.userAgent, ...lines].join('\n');
  }

  async run() {
    if (this.running) return;
    this.running = true;
    this.close();
    this.problems = null; // what the server found at STUN and TURN servers
    for (const step of this.steps) Object.assign(step, { state: 'waiting', text: '', advice: '' });
    try {
      for (const step of this.steps) {
        this.set(step, { state: 'running' });
        this.set(step, { state: 'passed', ...await step.take(this) });
        if (step.state === 'failed') break;
      }
    } catch (error) {
      const step = this.steps.find((one) => one.state === 'running');
      this.set(step, { state: 'failed', text: error.message, advice: error.advice ?? 'Run the test again, and tell whoever runs the server.' });
    }
    for (const step of this.steps) if (step.state === 'waiting') step.state = 'skipped';
    this.running = false;
    this.changed();
    setTimeout(() => { if (!this.running) this.close(); }, 3000); // the picture is seen for a moment
  }

  set(step, values) {
    Object.assign(step, values);
    this.changed();
  }

  changed() {
    this.dispatchEvent(new Event('change'));
  }

  close() {
    this.video = null;
    this.changed(); // no black box stays
    this.socket?.close();
    this.peer?.close();
    this.socket = this.peer = null;
  }

  lookAtPage() {
    return { text: `Reached at ${location.host}${location.protocol === 'https:' ? ', encrypted' : ''}.` };
  }

  lookAtBrowser() {
    if (!('WebSocket' in globalThis) || !('RTCPeerConnection' in globalThis)) {
      throw new Failure('This browser has no WebRTC, or it is switched off.', 'Use a current Chrome, Edge, Firefox or Safari, and switch off extensions that block WebRTC.');
    }
    const codecs = (globalThis.RTCRtpReceiver?.getCapabilities?.('video')?.codecs ?? []).map((codec) => codec.mimeType.slice(6).toUpperCase());
    const shown = [['H264', 'H.264'], ['VP8', 'VP8']].filter(([name]) => codecs.includes(name)).map(([, words]) => words);
    if (codecs.length && shown.length === 0) {
      return { state: 'warning', text: 'It has WebRTC, but neither H.264 nor VP8 video.', advice: 'Use a current Chrome, Edge, Firefox or Safari.' };
    }
    const fast = 'VideoDecoder' in globalThis ? '; it has the fast way to the screen' : '';
    return { text: `It has WebRTC${shown.length ? ` with ${shown.join(' and ')} video` : ''}${fast}.` };
  }

  async openSocket() {
    const started_ms = pageNow();
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/check`);
    this.socket = socket;
    this.heard = [];
    this.listeners = new Set();
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(data);
      if (event.type === 'check_servers') this.problems = event.servers.filter(({ problem }) => problem);
      this.heard.push(event);
      for (const listener of this.listeners) listener();
    };
    const opened = new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Failure('The page came, but its WebSocket is refused.', 'A proxy or a firewall lets pages through and WebSockets not: ask whoever runs it, or try another network.'));
    });
    await within(opened, SOCKET_MS, () => new Failure('The page came, but its WebSocket does not open.', 'A proxy or a firewall lets pages through and WebSockets not: ask whoever runs it, or try another network.'));
    return { text: `It answers in ${Math.round(pageNow() - started_ms)} ms.` };
  }

  async askForOffer() {
    this.socket.send(JSON.stringify({ type: 'check', session: sessionKey(), token: this.token }));
    const answer = await within(this.hear('check_offer', 'error'), SOCKET_MS, () => new Failure('The server does not answer.', 'Load this page again. If it stays so, tell whoever runs the server.'));
    if (answer.type === 'error') throw new Failure(capital(answer.text), 'Open the link that you were given once more, or ask for a new one.');
    this.offer = answer;
    return { text: 'The server lets this page in.' };
  }

  async gather() {
    const peer = new RTCPeerConnection({ iceServers: this.offer.ice_servers });
    this.peer = peer;
    const kinds = new Set();
    const errors = [];
    const ended = new Promise((resolve) => {
      peer.onicecandidate = ({ candidate }) => {
        if (!candidate) resolve();
        else if (candidate.type && candidate.protocol !== 'tcp') kinds.add(candidate.type);
        if (candidate?.type === 'relay') setTimeout(resolve, 200); // other servers may never answer
      };
    });
    peer.onicecandidateerror = ({ url, errorCode }) => errors.push({ url, code: errorCode });
    this.channel = new Promise((resolve) => { peer.ondatachannel = ({ channel }) => resolve(channel); });
    this.track = new Promise((resolve) => { peer.ontrack = ({ track }) => resolve(track); });
    await peer.setRemoteDescription({ type: 'offer', sdp: this.offer.sdp });
    await peer.setLocalDescription(await peer.createAnswer());
    await Promise.race([ended, wait(GATHER_MS)]);
    const urls = this.offer.ice_servers.flatMap((server) => server.urls);
    this.facts = {
      kinds,
      errors,
      stun: urls.some((url) => url.startsWith('stun:')),
      turn: urls.some((url) => url.startsWith('turn')),
      server: addressesOf(this.offer.sdp),
      udpPorts: this.offer.udp_ports,
      host: location.hostname,
    };
    return gathered(this.facts);
  }

  async connect() {
    const { peer } = this;
    const started_ms = pageNow();
    this.socket.send(JSON.stringify({ type: 'check_answer', sdp: peer.localDescription.sdp }));
    const connected = new Promise((resolve) => {
      const look = () => { if (['connected', 'failed'].includes(peer.connectionState)) resolve(peer.connectionState); };
      peer.onconnectionstatechange = look;
      look();
    });
    if (await Promise.race([connected, wait(CONNECT_MS)]) !== 'connected') {
      if (this.facts.turn && !this.problems) await Promise.race([this.hear('check_servers'), wait(SERVERS_MS)]);
      const { text, advice } = notConnected({ ...this.facts, problems: this.problems ?? [] });
      throw new Failure(text, advice);
    }
    const kind = await pairKind(peer);
    return { text: `Made in ${Math.round(pageNow() - started_ms)} ms, ${KIND_WORDS[kind] ?? kind}.` };
  }

  async exchange() {
    const channel = await within(this.channel, SOCKET_MS, () => new Failure('The connection stands, but its data channel does not open.', 'Run the test again; if it stays so, tell whoever runs the server.'));
    const round_trips_ms = [];
    channel.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === 'pong') round_trips_ms.push(pageNow() - message.sent_ms);
    };
    for (let id = 1; id <= PINGS; id += 1) {
      if (channel.readyState === 'open') channel.send(JSON.stringify({ type: 'ping', id, sent_ms: pageNow() }));
      await wait(60);
    }
    for (let waited_ms = 0; round_trips_ms.length < PINGS && waited_ms < 1500; waited_ms += 50) await wait(50);
    return trips(round_trips_ms, PINGS, location.hostname);
  }

  async watch() {
    const track = await within(this.track, VIDEO_MS, () => new Failure('No picture was offered to this browser.', 'Use a current Chrome, Edge, Firefox or Safari.'));
    this.video = new MediaStream([track]);
    this.changed();
    for (const end_ms = pageNow() + VIDEO_MS; pageNow() < end_ms;) {
      await wait(200);
      const reports = [...(await this.peer.getStats()).values()];
      const video = reports.find((report) => report.type === 'inbound-rtp' && report.kind === 'video');
      if (video?.framesDecoded >= 8) {
        const codec = reports.find((report) => report.id === video.codecId)?.mimeType.slice(6).replace('H264', 'H.264');
        return { text: `It arrives and moves${codec ? `, as ${codec}` : ''}.` };
      }
    }
    throw new Failure('Messages pass, but no picture arrives.', 'The network may drop large packets: try another network, or switch a VPN off. If messages alone are enough, you may still watch the arm by other means.');
  }

  // The first message of one of these types, past or to come.
  hear(...types) {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.heard.find((event) => types.includes(event.type));
        if (!found) return;
        this.listeners.delete(look);
        resolve(found);
      };
      this.listeners.add(look);
      look();
    });
  }
}

function capital(words) {
  return words ? words[0].toUpperCase() + words.slice(1) : '';
}

function wait(ms) {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}

function within(promise, ms, failure) {
  return Promise.race([promise, wait(ms).then(() => { throw failure(); })]);
}

// How the connection goes: the less direct of its two ends.
async function pairKind(peer) {
  const reports = await peer.getStats();
  const transport = [...reports.values()].find((report) => report.type === 'transport');
  const pair = reports.get(transport?.selectedCandidatePairId)
    ?? [...reports.values()].find((report) => report.type === 'candidate-pair' && report.nominated && report.state === 'succeeded');
  if (!pair) return 'host';
  const kinds = [pair.localCandidateId, pair.remoteCandidateId].map((id) => reports.get(id)?.candidateType);
  return ['relay', 'srflx', 'prflx', 'host'].find((kind) => kinds.includes(kind)) ?? 'host';
}
