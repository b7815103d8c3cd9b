// The phone's place in the room, by WebXR: a session of augmented reality with the page over the camera's picture.

import { pageNow } from '/clock.js';
import { poseFromXR } from '/devices/rotation.js';

const SILENT_MS = 300; // without a frame for so long, the last place says nothing

export class PhoneXR {
  // onPose(pose): in axes of REP 103; onLost(): the phone does not know its place; onReset(): its axes have changed;
  // onHidden(): something else lies over the session; onEnd(): it has ended, by whomever.
  constructor({ onPose, onLost, onReset, onHidden, onEnd }) {
    Object.assign(this, { onPose, onLost, onReset, onHidden, onEnd });
    this.session = null;
    this.seen_ms = -Infinity;
  }

  // root: the part of the page that stays in sight. Must be called by a tap; throws what the browser throws.
  async start(root) {
    const session = await navigator.xr.requestSession('immersive-ar', { requiredFeatures: ['local', 'dom-overlay'], domOverlay: { root } });
    this.session = session;
    session.addEventListener('end', () => this.ended());
    session.addEventListener('visibilitychange', () => { if (session.visibilityState !== 'visible') this.onHidden(); });
    try {
      await this.show(session);
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  async show(session) {
    const canvas = document.createElement('canvas');
    const gl = canvas.getContext('webgl2', { xrCompatible: true }) ?? canvas.getContext('webgl', { xrCompatible: true });
    if (!gl) throw new Error('this browser cannot draw in three dimensions');
    await gl.makeXRCompatible?.();
    const layer = new XRWebGLLayer(session, gl);
    await session.updateRenderState({ baseLayer: layer });
    const space = await session.requestReferenceSpace('local');
    space.addEventListener('reset', () => this.onReset());
    const onFrame = (time, frame) => {
      session.requestAnimationFrame(onFrame);
      gl.bindFramebuffer(gl.FRAMEBUFFER, layer.framebuffer);
      gl.clear(gl.COLOR_BUFFER_BIT); // the camera's picture shines through
      const pose = frame.getViewerPose(space);
      if (!pose || pose.emulatedPosition) {
        this.onLost();
        return;
      }
      this.seen_ms = pageNow();
      this.onPose(poseFromXR(pose.transform));
    };
    session.requestAnimationFrame(onFrame);
  }

  // Called again and again: frames that do not come say as little as a place that is lost.
  watch() {
    if (this.session && pageNow() - this.seen_ms > SILENT_MS) this.onLost();
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
