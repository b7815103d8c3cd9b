// A session in a headset, by WebXR: its frames, and what takes the person's eyes away from it.

import { pageNow } from '/clock.js';

const SILENT_MS = 300; // without a frame for so long, what was last seen says nothing

export class VrSession {
  // onFrame(frame, space, layer); onReset(): the room's axes have changed; onAway(reason): nobody sees the scene now;
  // onBack(): it is seen again; onEnd(): it is over, by whomever.
  constructor({ onFrame, onReset, onAway, onBack, onEnd }) {
    Object.assign(this, { onFrame, onReset, onAway, onBack, onEnd });
    this.session = null;
    this.seen_ms = -Infinity;
  }

  // mode: immersive-vr or immersive-ar. Must be called by a press; throws what the browser throws. Returns the context to draw with.
  async start(mode) {
    const canvas = document.createElement('canvas');
    const gl = canvas.getContext('webgl2', { xrCompatible: true, antialias: false });
    if (!gl) throw new Error('this browser cannot draw in three dimensions: it has no WebGL 2');
    const session = await navigator.xr.requestSession(mode);
    this.session = session;
    session.addEventListener('end', () => this.ended());
    session.addEventListener('visibilitychange', () => {
      if (session.visibilityState === 'visible') this.onBack();
      else this.onAway(session.visibilityState === 'hidden' ? 'the headset was taken off, or shows something else' : 'something else lies over the scene');
    });
    canvas.addEventListener('webglcontextlost', () => this.stop());
    try {
      await gl.makeXRCompatible();
      this.layer = new XRWebGLLayer(session, gl, { antialias: true });
      await session.updateRenderState({ baseLayer: this.layer, depthNear: 0.05, depthFar: 50 });
      this.space = await session.requestReferenceSpace('local');
    } catch (error) {
      this.stop();
      throw error;
    }
    this.space.addEventListener('reset', () => this.onReset());
    this.seen_ms = pageNow();
    return gl;
  }

  run() {
    const onFrame = (time, frame) => {
      if (!this.session) return;
      this.session.requestAnimationFrame(onFrame);
      this.seen_ms = pageNow();
      this.onFrame(frame, this.space, this.layer);
    };
    this.session?.requestAnimationFrame(onFrame);
  }

  get shinesThrough() {
    return (this.session?.environmentBlendMode ?? 'opaque') !== 'opaque';
  }

  // Called again and again: frames that do not come say as little as a scene that nobody sees.
  watch() {
    if (this.session && pageNow() - this.seen_ms > SILENT_MS) this.onAway('the headset shows no new pictures');
  }

  stop() {
    this.session?.end().catch(() => {}); // it may have ended by itself
  }

  ended() {
    if (!this.session) return;
    this.session = null;
    this.onEnd();
  }
}
