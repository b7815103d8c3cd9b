// A phone that knows its place, by iwer: window.hand moves it, blinds it, and refuses AR.
(() => {
  const behind = document.createElement('div'); // iwer lays its canvas over the page; a phone lays the page over it
  const config = {
    name: 'phone', supportedSessionModes: ['inline', 'immersive-ar'], supportedFeatures: ['viewer', 'local', 'dom-overlay'],
    supportedFrameRates: [60], isSystemKeyboardSupported: false, internalNominalFrameRate: 60,
    environmentBlendModes: { 'immersive-ar': 'alpha-blend' }, interactionMode: 'screen-space',
    userAgent: 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
  };
  const device = new IWER.XRDevice(config, { canvasContainer: behind });
  device.installRuntime({ forceInstall: true });
  Object.assign(behind.style, { zIndex: '-1', pointerEvents: 'none' });
  const seen = XRFrame.prototype.getViewerPose;
  XRFrame.prototype.getViewerPose = function (space) { return hand.lost ? null : seen.call(this, space); };
  const request = navigator.xr.requestSession;
  navigator.xr.requestSession = async function (...options) {
    if (hand.refused) throw new DOMException('no', 'NotAllowedError');
    hand.asked = options[1];
    return (hand.session = await request.apply(this, options));
  };
  const frame = () => new Promise(requestAnimationFrame);
  window.hand = {
    lost: false, refused: false, session: null, device,
    // From where it is along a way [m], and turned about an axis by an angle [rad], in axes of WebXR, at an even pace.
    async move([x, y, z], seconds, axis = [0, 1, 0], angle = 0) {
      const [from, before] = [device.position.clone(), device.quaternion.clone()];
      const start = performance.now();
      let share = 0;
      while (share < 1) {
        await frame();
        share = Math.min(1, (performance.now() - start) / (seconds * 1000));
        device.position.set(from.x + x * share, from.y + y * share, from.z + z * share);
        const half = (angle * share) / 2;
        const turn = [...axis.map((value) => value * Math.sin(half)), Math.cos(half)];
        device.quaternion.set(...this.product(turn, [before.x, before.y, before.z, before.w]));
      }
    },
    product([ax, ay, az, aw], [bx, by, bz, bw]) {
      return [aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz];
    },
  };
})();
