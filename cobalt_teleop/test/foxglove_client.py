"""A client of Foxglove's protocol for tests: robo-ws-bridge for the wire, rosbags for the bytes. No ROS 2 in it."""

import asyncio
import threading
from functools import cache

from robo_ws_bridge import WebSocketBridgeClient
from ros_operator import until
from rosbags.typesys import Stores, get_types_from_msg, get_typestore


@cache
def store_of(name, schema):
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(schema, name))
    return store


class FoxgloveClient:
    """Connects, and keeps what it is sent.

    Args:
        url: Of the server.
    """

    def __init__(self, url):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = self._run(self._make(url))
        self.received = {}
        self.lost_connections = 0
        self._client.on_message(self._on_message)
        self._client.on_reconnecting(self._on_lost)
        self._run(self._client.connect())
        until(lambda: self._client.server_info, 'the server to introduce itself')

    async def _make(self, url):
        return WebSocketBridgeClient(url)

    def _run(self, awaitable, timeout_s=15.0):
        return asyncio.run_coroutine_threadsafe(awaitable, self._loop).result(timeout_s)

    def _on_lost(self):
        self.lost_connections += 1

    def _on_message(self, channel, time_ns, cdr):
        self.received.setdefault(channel['topic'], []).append((time_ns, cdr))

    @property
    def server_info(self):
        return self._client.server_info

    def channels(self):
        return {channel['topic']: channel for channel in self._client.channels.values()}

    def channel(self, topic):
        return until(lambda: self.channels().get(topic), f'a channel for {topic}')

    def services(self):
        return {service['name']: service for service in self._client.services.values()}

    def subscribe(self, *topics):
        for topic in topics:
            self.channel(topic)
            self._run(self._client.subscribe(topic))

    def unsubscribe(self, topic):
        self._run(self._client.unsubscribe(topic))

    def count(self, topic):
        return len(self.received.get(topic, ()))

    def decoded(self, topic, index=-1):
        channel = self.channel(topic)
        name = channel['schemaName']
        return store_of(name, channel['schema']).deserialize_cdr(self.received[topic][index][1], name)

    def newest(self, topic):
        return self.decoded(topic) if self.count(topic) else None

    def call(self, name, **fields):
        """Calls a service and returns its answer; fields that are not given are empty."""
        service = until(lambda: self.services().get(name), f'the service {name}')
        request, response = service['request'], service['response']
        type_name = request['schemaName'].replace('/srv/', '/msg/')
        store = store_of(type_name, request['schema'])
        empty = {field: _empty(kind) for field, kind in store.get_msgdef(type_name).fields}
        cdr = store.serialize_cdr(store.types[type_name](**(empty | fields)), type_name)
        answer = self.call_raw(name, bytes(cdr))
        type_name = response['schemaName'].replace('/srv/', '/msg/')
        return store_of(type_name, response['schema']).deserialize_cdr(answer, type_name)

    def call_raw(self, name, payload, encoding='cdr'):
        service = until(lambda: self.services().get(name), f'the service {name}')
        return self._run(self._client.call_service(service['id'], payload, encoding=encoding)).payload

    def close(self):
        if self._loop.is_closed():
            return
        self._run(self._client.disconnect())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2.0)
        self._loop.close()


def _empty(kind):
    nodetype, detail = kind
    if nodetype.name != 'BASE':
        return []
    return {'string': '', 'bool': False}.get(detail[0], 0)
