// Reads the time that is drawn into each picture (frame_code.py) when a page shows it, on any of the roads.

(() => {
  const COLUMNS = 40;
  const MARK = [1, 0, 1];
  const VALUE_BITS = 24;
  const CHECK_BITS = 4;
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  window.benchAges = [];
  window.benchEnd = () => {};

  function read(source, width) {
    const height = Math.max(1, Math.round(width / COLUMNS));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.drawImage(source, 0, 0, width, height, 0, 0, width, height);
    const row = context.getImageData(0, height >> 1, width, 1).data;
    const bits = [];
    for (let column = 0; column < MARK.length + VALUE_BITS + CHECK_BITS; column += 1) {
      bits.push(Number(row[4 * Math.floor((column + 0.5) * (width / COLUMNS)) + 1] > 127));
    }
    if (MARK.some((bit, index) => bits[index] !== bit)) return null;
    const number = (from, count) => bits.slice(from, from + count).reduce((sum, bit) => sum * 2 + bit, 0);
    const value = number(MARK.length, VALUE_BITS);
    let check = 0;
    for (let shift = 0; shift < VALUE_BITS; shift += CHECK_BITS) check += value >> shift;
    return number(MARK.length + VALUE_BITS, CHECK_BITS) === ((check & 15) ^ 10) ? value : null;
  }

  function note(source, width) {
    const made = read(source, width);
    if (made === null) return;
    const range = 2 ** VALUE_BITS;
    const now = performance.timeOrigin + performance.now();
    window.benchAges.push((((now - made) % range) + range) % range);
  }

  function watchVideo(video) {
    const onFrame = () => {
      video.requestVideoFrameCallback(onFrame);
      note(video, video.videoWidth);
    };
    video.requestVideoFrameCallback(onFrame);
  }

  async function stock() {
    const peer = new RTCPeerConnection();
    window.benchEnd = () => peer.close();
    const { receiver } = peer.addTransceiver('video', { direction: 'recvonly' });
    if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;
    const video = document.createElement('video');
    Object.assign(video, { muted: true, autoplay: true, srcObject: new MediaStream([receiver.track]) });
    document.body.append(video);
    watchVideo(video);
    await peer.setLocalDescription(await peer.createOffer());
    await new Promise((resolve) => {
      if (peer.iceGatheringState === 'complete') resolve();
      peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve();
    });
    const answer = await fetch('/offer', { method: 'POST', body: JSON.stringify({ sdp: peer.localDescription.sdp }) });
    await peer.setRemoteDescription({ type: 'answer', sdp: (await answer.json()).sdp });
  }

  function mjpeg() {
    const screen = document.createElement('canvas');
    document.body.append(screen);
    const paint = screen.getContext('2d', { desynchronized: true });
    const socket = new WebSocket(`ws://${location.host}/watch`);
    socket.binaryType = 'blob';
    socket.onmessage = async ({ data }) => {
      const picture = await createImageBitmap(data);
      if (screen.width !== picture.width) Object.assign(screen, { width: picture.width, height: picture.height });
      paint.drawImage(picture, 0, 0);
      note(screen, screen.width);
      picture.close();
    };
  }

  // The operator's page itself, whose screens tell when they show a picture.
  function ours() {
    document.querySelector('figure[data-camera=front]').addEventListener('shown', ({ currentTarget }) => {
      const screen = currentTarget.querySelector('.screen:not(.coming)');
      note(screen, screen.videoWidth || screen.width);
    });
  }

  window.benchWatch = { stock, mjpeg, ours };
})();
