"""Senders of the same frames by different roads, each a process of its own: `python video_senders.py ROAD PORT FRAMES`.

The frames, a .npy file of (count, height, width, 3) RGB, carry the time at which they were made (see `frame_code`).
Our own roads have a real bridge between the frames and their viewers; here, then, is the host alone.
"""

import asyncio
import fractions
import gc
import itertools
import signal
import sys
import time
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from aiortc.contrib.media import MediaRelay
from numpy.typing import NDArray
from rclpy.node import Node

from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.video import frame_code
from cobalt_teleop.workcell_host.host_node import HostNode, HostOptions
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant
from cobalt_teleop.workcell_host.plant import CameraModel, Capabilities

RATE_HZ = 20.0
_JPEG_QUALITY = 80

Frames = NDArray[np.uint8]


def new_frames(frames: Frames) -> 'itertools.cycle[Any]':
    """Returns the frames there and back again, for ever."""
    return itertools.cycle([*frames, *frames[-2:0:-1]])


def stamped(frame: Frames) -> Frames:
    """Returns a frame with the present time drawn into it."""
    return frame_code.draw(frame, frame_code.value_of_stamp(time.time_ns()))


class ReplayPlant(IdealPlant):
    """Shows recorded frames instead of its own."""

    def __init__(self, frames: Frames) -> None:
        super().__init__()
        _, height, width, _ = frames.shape
        front = CameraModel(name='front', width=width, height=height, rate_hz=RATE_HZ, focal_px=300.0)
        self._frames = new_frames(frames)
        self._filmed = Capabilities(**(vars(super().capabilities) | {'cameras': (front,)}))

    @property
    def capabilities(self) -> Capabilities:
        """What it is and can do."""
        return self._filmed

    def capture(self, camera: str, size_px: tuple[int, int] | None = None) -> Frames:
        """Returns the next frame."""
        return next(self._frames)


def run_host(frames: Frames) -> None:
    """Runs a host of one workcell; its bridge is another process."""

    def build(stop: Stop) -> Node:
        host = HostNode('replay')
        host.host({'env_0': ReplayPlant(frames)}, HostOptions(control_rate_hz=RATE_HZ, draw_frame_code=True))
        return host

    run_node('replay', 'Replays frames.', HostOptions, build, [])


class StockTrack(VideoStreamTrack):
    """What an application gives to aiortc: pictures, which every peer's sender encodes for itself."""

    def __init__(self, frames: Frames) -> None:
        super().__init__()
        self._frames = new_frames(frames)
        self._due_s = time.monotonic()
        self._count = 0

    async def recv(self) -> av.VideoFrame:
        """Returns the next picture when it is due, converted once for all encoders."""
        self._due_s = max(self._due_s + 1.0 / RATE_HZ, time.monotonic() - 1.0 / RATE_HZ)
        await asyncio.sleep(max(0.0, self._due_s - time.monotonic()))
        yuv = cv2.cvtColor(stamped(next(self._frames)), cv2.COLOR_RGB2YUV_I420)
        frame = av.VideoFrame.from_ndarray(yuv, format='yuv420p')
        frame.pts, frame.time_base = self._count * 90_000 // int(RATE_HZ), fractions.Fraction(1, 90_000)
        self._count += 1
        return frame


def _page_app() -> web.Application:
    async def page(request: web.Request) -> web.Response:
        return web.Response(text='<!doctype html><title>frames</title><body></body>', content_type='text/html')

    app = web.Application()
    app.router.add_get('/', page)
    return app


def stock_app(frames: Frames, codec: str) -> web.Application:
    """Returns an application as aiortc's own examples are: a relay of one track to all peers."""
    relay, source = MediaRelay(), StockTrack(frames)
    peers = set()

    async def offer(request: web.Request) -> web.Response:
        peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        peers.add(peer)

        @peer.on('connectionstatechange')
        async def on_change() -> None:
            if peer.connectionState in ('failed', 'closed'):
                peers.discard(peer)
                await peer.close()

        await peer.setRemoteDescription(RTCSessionDescription(sdp=(await request.json())['sdp'], type='offer'))
        peer.addTrack(relay.subscribe(source, buffered=False))
        preferred = [
            one for one in RTCRtpSender.getCapabilities('video').codecs if one.mimeType in (codec, 'video/rtx')
        ]
        for transceiver in peer.getTransceivers():
            transceiver.setCodecPreferences(preferred)
        await peer.setLocalDescription(await peer.createAnswer())
        return web.json_response({'sdp': peer.localDescription.sdp})

    async def end(app: web.Application) -> None:
        await asyncio.gather(*(peer.close() for peer in tuple(peers)))

    app = _page_app()
    app.router.add_post('/offer', offer)
    app.on_shutdown.append(end)
    return app


def mjpeg_app(frames: Frames) -> web.Application:
    """Returns an application that sends each picture as a JPEG, compressed once, over WebSockets."""
    viewers: set[web.WebSocketResponse] = set()

    async def watch(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        viewers.add(socket)
        try:
            async for _ in socket:
                pass
        finally:
            viewers.discard(socket)
        return socket

    async def send(app: web.Application) -> Any:
        async def go_on() -> None:
            due_s = time.monotonic()
            for frame in new_frames(frames):
                due_s += 1.0 / RATE_HZ
                await asyncio.sleep(max(0.0, due_s - time.monotonic()))
                if viewers:
                    options = [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY]
                    data = cv2.imencode('.jpg', cv2.cvtColor(stamped(frame), cv2.COLOR_RGB2BGR), options)[1].tobytes()
                    await asyncio.gather(*(viewer.send_bytes(data) for viewer in viewers), return_exceptions=True)

        task = asyncio.get_running_loop().create_task(go_on())
        yield
        task.cancel()

    app = _page_app()
    app.router.add_get('/watch', watch)
    app.cleanup_ctx.append(send)
    return app


def tell_encoders(file: Path) -> None:
    """Writes, whenever SIGUSR1 comes, how many encoders this process has: ours and aiortc's have the same names."""

    def tell(*_: object) -> None:
        names = [type(one).__name__ for one in gc.get_objects()]
        partial = file.with_suffix('.partial')
        partial.write_text(str(sum(name in ('H264Encoder', 'Vp8Encoder') for name in names)))
        partial.rename(file)

    signal.signal(signal.SIGUSR1, tell)


def main() -> None:
    """Entry point."""
    road, port, file = sys.argv[1:4]
    tell_encoders(Path(file).with_name('encoders'))
    frames = np.load(file)
    cv2.setNumThreads(1)
    if road == 'host':
        run_host(frames)
        return
    codecs = {'stock': 'video/VP8', 'stock_h264': 'video/H264'}
    app = mjpeg_app(frames) if road == 'mjpeg' else stock_app(frames, codecs[road])
    web.run_app(app, host='127.0.0.1', port=int(port), print=None, access_log=None, shutdown_timeout=0.5)


if __name__ == '__main__':
    main()
