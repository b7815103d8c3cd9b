// A headset with two controllers, by iwer: window.headset moves them, squeezes, blinds, and reads what it shows.
(() => {
  const behind = document.createElement('div'); // iwer lays its canvas over the page; a headset has a screen of its own
  const device = new IWER.XRDevice(IWER.metaQuest3, { canvasContainer: behind, stereoEnabled: window.stereo ?? false });
  device.installRuntime({ forceInstall: true });
  Object.assign(behind.style, { zIndex: '-1', pointerEvents: 'none' });

  const getContext = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    const made = getContext.call(this, kind, kind === 'webgl2' ? { ...options, preserveDrawingBuffer: true } : options);
    if (kind === 'webgl2') {
      headset.gl = made;
      const upload = made.texImage2D;
      made.texImage2D = (...values) => {
        const source = values.at(-1);
        if (source instanceof VideoFrame || source instanceof HTMLVideoElement) headset.uploads += 1;
        if (source instanceof VideoFrame) headset.uploaded = source.timestamp;
        upload.apply(made, values);
      };
    }
    return made;
  };
  const request = navigator.xr.requestSession;
  navigator.xr.requestSession = async function (mode, options) {
    if (headset.refused) throw new DOMException('no', 'NotAllowedError');
    headset.mode = mode;
    headset.session = await request.call(this, mode, options);
    const ask = headset.session.requestAnimationFrame.bind(headset.session);
    headset.session.requestAnimationFrame = (callback) => (headset.frozen ? headset.waiting.push(callback) : ask(callback));
    headset.thaw = () => {
      headset.frozen = false;
      headset.waiting.splice(0).forEach(ask);
    };
    headset.frames = 0;
    const count = () => {
      headset.frames += 1;
      if (!headset.ended) headset.session.requestAnimationFrame(count);
    };
    headset.ended = false;
    headset.session.addEventListener('end', () => { headset.ended = true; });
    headset.session.requestAnimationFrame(count);
    return headset.session;
  };
  const getPose = XRFrame.prototype.getPose;
  XRFrame.prototype.getPose = function (space, base) {
    for (const [hand, blind] of Object.entries(headset.blind)) {
      if (space !== device.controllers[hand].inputSource.gripSpace) continue;
      const { transform } = getPose.call(this, space, base);
      return blind === 'gone' ? null : { transform, emulatedPosition: blind === 'guessed' }; // iwer calls all of them guessed
    }
    return getPose.call(this, space, base);
  };

  const product = ([ax, ay, az, aw], [bx, by, bz, bw]) => [
    aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz,
  ];
  const rotated = (turn, [x, y, z]) => product(product(turn, [x, y, z, 0]), [-turn[0], -turn[1], -turn[2], turn[3]]).slice(0, 3);
  const GRIP = { left: [-0.00398, -0.01586, 0.04964], right: [0.00398, -0.01586, 0.04964] }; // of iwer's controllers, from where they point from
  const frame = () => new Promise(requestAnimationFrame);

  window.headset = {
    device, gl: null, session: null, mode: null, refused: false, uploads: 0, uploaded: null, frames: 0, ended: true, frozen: false, waiting: [], blind: { left: '', right: '' },
    // The hand's grip goes along a way [m] and turns about an axis through itself by an angle [rad], at an even pace.
    async move(hand, [x, y, z], seconds, axis = [0, 1, 0], angle = 0) {
      const { position, quaternion } = device.controllers[hand];
      const before = [quaternion.x, quaternion.y, quaternion.z, quaternion.w];
      const grip = rotated(before, GRIP[hand]).map((value, index) => value + [position.x, position.y, position.z][index]);
      const start = performance.now();
      let share = 0;
      while (share < 1) {
        await frame();
        share = Math.min(1, (performance.now() - start) / (seconds * 1000));
        const half = (angle * share) / 2;
        const turn = product([...axis.map((value) => value * Math.sin(half)), Math.cos(half)], before);
        const offset = rotated(turn, GRIP[hand]);
        quaternion.set(...turn);
        position.set(...grip.map((value, index) => value + [x, y, z][index] * share - offset[index]));
      }
    },
    press(hand, button, value) { device.controllers[hand].updateButtonValue(button, value); },
    stick(hand, x) { device.controllers[hand].updateAxes('thumbstick', x, 0); },
    // What the hand felt last: strength and for how long [ms], and how long ago that was.
    felt(hand) {
      const [symbol] = Object.getOwnPropertySymbols(device.controllers[hand].inputSource.gamepad.hapticActuators[0]);
      const pulse = device.controllers[hand].inputSource.gamepad.hapticActuators[0][symbol].lastPulse;
      return pulse && { value: pulse.value, ms: pulse.duration, ago_ms: performance.now() - pulse.startTime };
    },
    // What the headset shows: the mean colour of a square of 9 pixels around a place, as shares of width and height from above.
    colour(across, down) {
      const { gl } = this;
      const pixels = new Uint8Array(9 * 9 * 4);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      gl.readPixels(Math.round(gl.drawingBufferWidth * across) - 4, Math.round(gl.drawingBufferHeight * (1 - down)) - 4, 9, 9, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      return [0, 1, 2, 3].map((channel) => pixels.reduce((sum, value, index) => sum + (index % 4 === channel ? value : 0), 0) / 81);
    },
    // The middle of what is bright and grey between two heights, as shares from above; null without any.
    spot(from, to) {
      const { gl } = this;
      const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
      const low = Math.round(height * (1 - to));
      const rows = Math.round(height * (to - from));
      const pixels = new Uint8Array(width * rows * 4);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      gl.readPixels(0, low, width, rows, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      let [count, across, up] = [0, 0, 0];
      for (let pixel = 0; pixel < width * rows; pixel += 1) {
        if (Math.min(...pixels.subarray(pixel * 4, pixel * 4 + 3)) < 190) continue;
        count += 1;
        across += pixel % width;
        up += Math.floor(pixel / width);
      }
      return count ? [across / count / width, 1 - (low + up / count) / height] : null;
    },
    picture() { return this.gl.canvas.toDataURL('image/png'); },
  };
})();
