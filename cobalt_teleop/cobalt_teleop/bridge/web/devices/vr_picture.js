// One camera's pictures as a texture: the newest goes to the headset, once, and counts as shown when it was drawn there.

export class VrPicture {
  constructor(painter, camera) {
    Object.assign(this, { painter, camera });
    this.texture = painter.texture();
    this.next = null; // has come, and was not drawn yet
    this.ratio = null; // width to height; null before the first picture
    this.width_px = 0; // on the headset's screen
    camera.drawBy(this);
  }

  take(picture) {
    this.next?.close();
    this.next = picture;
  }

  // Called in each of the headset's frames.
  upload() {
    const { painter, camera } = this;
    if (this.next) {
      const { source, width, height, onDrawn } = this.next;
      painter.fill(this.texture, source);
      this.ratio = width / height;
      onDrawn();
      this.next.close();
      this.next = null;
    } else if (!camera.knowsFrames && camera.screen?.hasPicture) {
      const { element } = camera.screen; // this browser does not tell when a picture is new
      painter.fill(this.texture, element);
      this.ratio = element.videoWidth / element.videoHeight;
    }
  }

  close() {
    this.camera.drawBy(null);
    this.next?.close();
    this.next = null;
    this.painter.gl.deleteTexture(this.texture);
  }
}
