// A track along which a finger closes the gripper. It moves the gripper from where it is, wherever the finger lands.

import { keepsFingers } from '/devices/phone_touch.js';

const SNAP = 0.06; // so near to an end, it is the end

export class GripperSlide {
  // root: the track, with a thumb in it. onGrip(): a finger comes. onValue(value): 0 closed to 1 open. onLeave(): it goes.
  constructor(root, { onGrip, onValue, onLeave }) {
    this.root = root;
    this.thumb = root.querySelector('.thumb');
    this.finger = null;
    this.value = 1;
    root.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      if (this.finger) return;
      root.setPointerCapture(event.pointerId);
      this.finger = { id: event.pointerId, y: event.clientY, value: this.value };
      onGrip();
    });
    root.addEventListener('pointermove', (event) => {
      if (event.pointerId !== this.finger?.id) return;
      const length = root.clientHeight - this.thumb.offsetHeight;
      const value = this.finger.value - (event.clientY - this.finger.y) / length;
      this.draw(value < SNAP ? 0 : value > 1 - SNAP ? 1 : value);
      onValue(this.value);
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      root.addEventListener(end, (event) => {
        if (event.pointerId !== this.finger?.id) return;
        this.finger = null;
        onLeave();
      });
    }
    keepsFingers(root);
    this.draw(this.value);
  }

  get held() {
    return this.finger !== null;
  }

  // What the arm says of its gripper; null if it says nothing.
  show(value) {
    if (value !== null && !this.held) this.draw(value);
  }

  draw(value) {
    this.value = Math.min(1, Math.max(0, value));
    this.root.style.setProperty('--closed', String(1 - this.value));
  }
}
