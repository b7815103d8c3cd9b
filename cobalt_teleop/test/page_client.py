"""A page without a browser: speaks to the bridge as the real page does, over aiohttp and aiortc."""

import asyncio
import contextlib
import json
import time

import aiohttp
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from cobalt_teleop.core.keyboard_actions import ACTIONS

WAIT_S = 12.0
MEDIA_PATIENCE_S = 8.0


class PageClient:
    """One page.

    Args:
        port: Of the bridge.
        session: Session to go on with.
        token: Of a link.
        tls: Context of a client that trusts the bridge; None for plain HTTP.
    """

    def __init__(
        self, port, session='', workcell='', operator='Ada', *, codecs=('h264', 'vp8'), road='track', token='', tls=None
    ):
        self.port = port
        page = {'session': session, 'workcell': workcell, 'operator': operator, 'token': token}
        self.hello = {'type': 'hello', **page, 'codecs': list(codecs), 'road': road, 'live': [0, 0]}
        self.origin = f'{"https" if tls else "http"}://127.0.0.1:{port}'
        self.tls = tls
        self.events = []
        self.anchors = {}
        self.pongs = []
        self.frames = {}
        self.first_frame_s = {}
        self.connections = {}
        self.channels = {}
        self.samples = None
        self.offers = {'control': 0, 'video': 0}
        self.newest_offer = {'control': 0, 'video': 0}
        self.sequence = 0
        self._listening = None
        self._tasks = []

    async def __aenter__(self):
        self.opened_s = time.monotonic()
        self._http = aiohttp.ClientSession()
        await self.open_socket()
        return self

    async def open_socket(self):
        """Says hello on a new socket, and hears the old one no more."""
        if self._listening is not None:
            self._listening.cancel()
        self.socket = await self._http.ws_connect(f'{self.origin}/ws', ssl=self.tls or True)
        await self.socket.send_json(self.hello)
        self._listening = asyncio.ensure_future(self._listen())
        self._tasks.append(self._listening)

    async def __aexit__(self, *_):
        for task in self._tasks:
            task.cancel()
        for connection in tuple(self.connections.values()):
            await connection.close()
        await self.socket.close()
        await self._http.close()

    def newest(self, kind):
        return next((event for event in reversed(self.events) if event['type'] == kind), None)

    @property
    def key(self):
        return self.newest('session')['key']

    @property
    def session(self):
        return self.newest('session')['session']

    @property
    def name(self):
        """As others see it: a number is behind it while somebody else of that name is there."""
        return self.newest('you')['name']

    async def until(self, condition, what, timeout_s=WAIT_S):
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            await asyncio.sleep(0.01)
        told = [event for event in self.events if event['type'] not in ('step', 'offer')]
        raise AssertionError(f'{what} never came; last events: {told[-6:]}')

    async def until_event(self, kind, timeout_s=WAIT_S, **fields):
        def found():
            event = self.newest(kind)
            return event if event and all(event.get(name) == value for name, value in fields.items()) else None

        return await self.until(found, f'{kind} {fields}', timeout_s)

    async def until_live(self, cameras=1):
        # As the page does: a connection that does not come about in time is asked for anew.
        try:
            await self.until(lambda: len(self.frames) >= cameras, 'video', MEDIA_PATIENCE_S)
        except AssertionError:
            await self.say('restart_video', road=self.hello['road'])
            await self.until(lambda: len(self.frames) >= cameras, 'video')

    async def say(self, kind, **fields):
        await self.socket.send_json({'type': kind, **fields})

    async def report(self, *cameras, **link):
        """Tells how its link is, as the page does once a second."""
        camera = {'name': 'front', 'fps': 20, 'frame_age_ms': 41.5, 'kbit_s': 300, 'dropped': 0, 'freezes': 0}
        clock = {'rtt_ms': 5, 'clock_offset_ms': 0, 'clock_uncertainty_ms': 1, 'loss_down': 0}
        quality = {'level': 'good', 'cause': ''}
        told = [camera | {'shown_width': 640} | one for one in cameras]
        await self.say('stats', **(clock | quality | link), cameras=told)

    def keys(self, buttons, *, engaged=True, epoch=1, frame=None, **fields):
        self.sequence += 1
        message = {
            'type': 'keys',
            'sequence': self.sequence,
            'device_ms': time.time() * 1000,
            'clock_offset_ms': 0.0,
            'clock_uncertainty_ms': 0.5,
            'buttons': buttons,
            'press_counts': [0] * len(ACTIONS),
            'engaged': engaged,
            'clutch_epoch': epoch,
            'reference': 'view',
            'heading': 0.0,
            'frame': frame,
        }
        self.samples.send(json.dumps(message | fields))

    def ping(self):
        self.samples.send(json.dumps({'type': 'ping', 'id': 1, 'sent_ms': time.time() * 1000}))

    async def _listen(self):
        async for message in self.socket:
            self._take(json.loads(message.data))

    def _take(self, event):
        self.events.append(event)
        if event['type'] == 'offer':
            self.offers[event['connection']] += 1
            self.newest_offer[event['connection']] = event['number']
            self._tasks.append(asyncio.ensure_future(self._answer(event)))

    async def _answer(self, offer):
        kind = offer['connection']
        if kind in self.connections:
            await self.connections.pop(kind).close()
        self.connections[kind] = connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))

        @connection.on('datachannel')
        def on_channel(channel):
            self.channels[kind, channel.label] = channel
            if channel.label == 'samples':
                assert (channel.ordered, channel.maxRetransmits) == (False, 0)
                self.samples = channel
                channel.on('message', self._on_sample)
            elif channel.label == 'events':
                channel.on('message', lambda text: self._take(json.loads(text)))

        @connection.on('track')
        def on_track(track):
            self._tasks.append(asyncio.ensure_future(self._watch(track, connection, offer['cameras'])))

        await connection.setRemoteDescription(RTCSessionDescription(offer['sdp'], 'offer'))
        await connection.setLocalDescription(await connection.createAnswer())
        with contextlib.suppress(ConnectionError):  # the bridge may have gone meanwhile
            await self.say('answer', connection=kind, number=offer['number'], sdp=connection.localDescription.sdp)

    def _on_sample(self, text):
        message = json.loads(text)
        if message['type'] == 'anchor':
            self.anchors[message['camera']] = message
        else:
            self.pongs.append(message | {'received_ms': time.time() * 1000})

    async def _watch(self, track, connection, cameras):
        mid = next(t.mid for t in connection.getTransceivers() if t.receiver.track is track)
        camera = cameras[mid]
        try:
            while True:
                frame = await track.recv()
                self.first_frame_s.setdefault(camera, time.monotonic() - self.opened_s)
                self.frames.setdefault(camera, []).append(frame)
                del self.frames[camera][:-50]
        except MediaStreamError:
            pass
