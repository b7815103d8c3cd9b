// Fingers on the phone's surfaces: whether they hold, and how they move.

const METRES_PER_PIXEL = 0.0005; // across a phone's width, some 20 cm

// A finger on it is no click, not even on what lies there by the time it is lifted, and opens no menu.
export function keepsFingers(surface) {
  for (const begin of ['touchstart', 'contextmenu']) surface.addEventListener(begin, (event) => event.preventDefault(), { passive: false });
}

export class PhoneTouch {
  // pad: its first finger moves in the plane, a second one up and down. strip: fingers on it move up and down.
  // onPress(), onRelease(): the first finger comes, the last one goes. onMove({ forward, left, up }): [m].
  constructor({ pad, strip, onPress, onMove, onRelease }) {
    Object.assign(this, { onPress, onMove, onRelease });
    this.fingers = new Map();
    this.listen(pad, () => ([...this.fingers.values()].some(({ plane }) => plane) ? 'height' : 'plane'));
    this.listen(strip, () => 'height');
  }

  get held() {
    return this.fingers.size > 0;
  }

  listen(surface, roleOf) {
    surface.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      surface.setPointerCapture(event.pointerId);
      const plane = roleOf() === 'plane';
      const first = !this.held;
      this.fingers.set(event.pointerId, { plane, x: event.clientX, y: event.clientY });
      if (first) this.onPress();
    });
    surface.addEventListener('pointermove', (event) => {
      const finger = this.fingers.get(event.pointerId);
      if (!finger) return;
      const right = (event.clientX - finger.x) * METRES_PER_PIXEL;
      const upward = (finger.y - event.clientY) * METRES_PER_PIXEL;
      Object.assign(finger, { x: event.clientX, y: event.clientY });
      this.onMove(finger.plane ? { forward: upward, left: -right, up: 0 } : { forward: 0, left: 0, up: upward });
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      surface.addEventListener(end, (event) => {
        if (this.fingers.delete(event.pointerId) && !this.held) this.onRelease();
      });
    }
    keepsFingers(surface);
  }
}
