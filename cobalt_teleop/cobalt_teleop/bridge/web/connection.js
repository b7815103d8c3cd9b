// One peer connection that the bridge offers: answered, watched, and asked for anew when it has failed.

import { pageNow } from '/clock.js';

export const PATIENCE_MS = 4000; // for a new connection, before it is asked for again

export class Connection {
  // `send` takes a signal, `restart` asks for a new offer, `onPeer` equips a new RTCPeerConnection before it is answered.
  constructor(kind, { send, restart, onPeer, onState, onError }) {
    Object.assign(this, { kind, send, restart, onPeer, onState, onError });
    this.peer = null;
    this.offer = null;
    this.since_ms = 0;
    this.firstOffer_ms = null;
    this.moved = false; // the socket beside it was made anew, perhaps over another network: a second time it would not find its way
  }

  get state() {
    return this.peer?.connectionState ?? 'none';
  }

  // How long the first connection has been coming.
  waits_ms() {
    return this.peer && this.state !== 'connected' && this.firstOffer_ms ? pageNow() - this.firstOffer_ms : 0;
  }

  async answer(offer) {
    this.close();
    const peer = new RTCPeerConnection({ iceServers: offer.ice_servers });
    this.peer = peer;
    this.offer = offer;
    this.moved = false;
    this.since_ms = pageNow();
    this.firstOffer_ms ??= pageNow();
    this.onPeer(peer, offer);
    peer.onconnectionstatechange = () => {
      if (this.state === 'connected') {
        this.since_ms = pageNow();
        this.firstOffer_ms = null;
      }
      this.onState();
    };
    try {
      await peer.setRemoteDescription({ type: 'offer', sdp: offer.sdp });
      await peer.setLocalDescription(await peer.createAnswer());
      await gathered(peer);
      if (this.peer === peer) {
        this.send({ type: 'answer', connection: this.kind, number: offer.number, sdp: peer.localDescription.sdp });
      }
    } catch (error) {
      if (this.peer === peer) this.onError(error);
    }
  }

  // Asks for a new connection when this one has failed.
  watch() {
    if (!this.peer || this.state === 'connected') return;
    const failed = this.state === 'failed' || this.state === 'closed';
    if (failed || pageNow() - this.since_ms > 2 * PATIENCE_MS) this.renew();
  }

  // Asks for a new connection, at most every few seconds; returns whether it did.
  renew() {
    if (pageNow() - this.since_ms < PATIENCE_MS) return false;
    this.since_ms = pageNow();
    this.restart();
    return true;
  }

  close() {
    const peer = this.peer;
    this.peer = null;
    if (!peer) return;
    peer.ontrack = peer.ondatachannel = peer.onconnectionstatechange = null;
    peer.close();
  }
}

function gathered(peer) {
  if (peer.iceGatheringState === 'complete') return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => peer.iceGatheringState === 'complete' && resolve();
    peer.addEventListener('icegatheringstatechange', done);
    // With a relay there is a way through: other servers may never answer.
    peer.addEventListener('icecandidate', ({ candidate }) => { if (candidate?.type === 'relay') setTimeout(resolve, 200); });
    setTimeout(resolve, 2000);
  });
}
