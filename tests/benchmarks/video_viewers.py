"""Viewers of one sender in a process of their own: `python video_viewers.py ROAD PORT COUNT SECONDS`.

Waits until every viewer has a picture, watches for a while, and prints the pictures of each viewer as JSON.
"""

import asyncio
import json
import sys
import time
from collections import defaultdict
from typing import Any

import aiohttp
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from cobalt_teleop.bridge.media.video_units import HEADER

_WAIT_S = 20.0

_HELLO = {'type': 'hello', 'session': '', 'workcell': 'env_0', 'operator': '', 'token': '', 'live': [0, 0]}


class Viewer:
    """Counts its pictures."""

    def __init__(self) -> None:
        self.pictures = 0
        self.connected = False
        self.peers: list[RTCPeerConnection] = []

    async def watch(self, road: str, address: str, http: aiohttp.ClientSession) -> None:
        """Watches for ever."""
        if road == 'mjpeg':
            await self._watch_jpegs(address, http)
        elif road.startswith('stock'):
            await self._watch_stock(address, http)
        else:
            await self._watch_bridge(road, address, http)

    async def _watch_jpegs(self, address: str, http: aiohttp.ClientSession) -> None:
        async with http.ws_connect(f'{address}/watch') as socket:
            async for message in socket:
                self.pictures += message.type == aiohttp.WSMsgType.BINARY

    async def _watch_stock(self, address: str, http: aiohttp.ClientSession) -> None:
        peer = self._new_peer()
        peer.addTransceiver('video', direction='recvonly')
        await peer.setLocalDescription(await peer.createOffer())
        async with http.post(f'{address}/offer', json={'sdp': peer.localDescription.sdp}) as answer:
            sdp = (await answer.json())['sdp']
        await peer.setRemoteDescription(RTCSessionDescription(sdp=sdp, type='answer'))
        await asyncio.Event().wait()

    async def _watch_bridge(self, road: str, address: str, http: aiohttp.ClientSession) -> None:
        codecs = {'track_vp8': ['vp8'], 'pages_alone': []}.get(road, ['h264'])
        hello = _HELLO | {'codecs': codecs, 'road': 'units' if road == 'units' else 'track'}
        async with http.ws_connect(f'{address}/ws') as socket:
            await socket.send_json(hello)
            async for message in socket:
                event = json.loads(message.data)
                if event['type'] == 'offer':
                    peer = self._new_peer()
                    await peer.setRemoteDescription(RTCSessionDescription(sdp=event['sdp'], type='offer'))
                    await peer.setLocalDescription(await peer.createAnswer())
                    answer = {'type': 'answer', 'connection': event['connection'], 'number': event['number']}
                    await socket.send_json(answer | {'sdp': peer.localDescription.sdp})
                    self.connected = True

    def _new_peer(self) -> RTCPeerConnection:
        peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.peers.append(peer)
        peer.on('track', lambda track: asyncio.ensure_future(self._watch_track(track)))
        peer.on('datachannel', self._watch_channel)
        return peer

    async def _watch_track(self, track: Any) -> None:
        try:
            while True:
                await track.recv()
                self.pictures += 1
        except MediaStreamError:
            pass

    def _watch_channel(self, channel: Any) -> None:
        if channel.label in ('samples', 'events'):
            return
        units: defaultdict[int, set[int]] = defaultdict(set)

        def on_message(data: bytes) -> None:
            _, _, unit, index, count, _ = HEADER.unpack_from(data)
            units[unit].add(index)
            if len(units[unit]) == count:
                del units[unit]
                self.pictures += 1

        channel.on('message', on_message)


async def watch(road: str, port: str, count: int, seconds: float) -> list[int]:
    """Watches, and returns what came."""
    viewers = [Viewer() for _ in range(count)]
    async with aiohttp.ClientSession() as http:
        address = f'http://127.0.0.1:{port}'
        tasks = [asyncio.ensure_future(viewer.watch(road, address, http)) for viewer in viewers]
        end = time.monotonic() + _WAIT_S
        while not all(viewer.connected if road == 'pages_alone' else viewer.pictures for viewer in viewers):
            if time.monotonic() > end:
                raise SystemExit(f'no picture by {road}: {[viewer.pictures for viewer in viewers]}')
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
        print('watching', flush=True)
        before = [viewer.pictures for viewer in viewers]
        await asyncio.sleep(seconds)
        seen = [viewer.pictures - start for viewer, start in zip(viewers, before, strict=True)]
        for task in tasks:
            task.cancel()
        for viewer in viewers:
            await asyncio.gather(*(peer.close() for peer in viewer.peers))
    return seen


if __name__ == '__main__':
    print(json.dumps(asyncio.run(watch(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))), flush=True)
