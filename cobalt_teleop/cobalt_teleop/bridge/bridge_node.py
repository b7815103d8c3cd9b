"""webrtc_bridge: pages, live video and device samples for operators with a browser."""

import asyncio
import logging
import os
import sys
import threading
from typing import Any

from aiohttp import web
from OpenSSL import SSL
from rclpy.node import Node

from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.bridge.bridge_parameters import BridgeParameters
from cobalt_teleop.bridge.door.entrance import Entrance, open_entrance
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.malformed_requests import MalformedRequests, place_of
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.media import sctp_timing
from cobalt_teleop.bridge.network.media_way import MediaWay, media_way
from cobalt_teleop.bridge.network.server_check import check_servers
from cobalt_teleop.bridge.network.udp_ports import PortRangeLoop
from cobalt_teleop.bridge.operators.lobby import Lobby, LobbyRules
from cobalt_teleop.bridge.operators.reception import SessionRules
from cobalt_teleop.bridge.ros_side import RosSide
from cobalt_teleop.bridge.web_server import build_app, give_every_request_a_target
from cobalt_teleop.ros.executor_calls import ExecutorCalls
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.workcells import WorkcellWatch

KEEPALIVE_S = 60.0
ASK_SERVERS_PERIOD_S = 60.0


class WebRtcBridge(Node):
    """Serves pages from an event loop in a thread of its own; the executor's thread has the ROS side."""

    def __init__(self, stop: Stop) -> None:
        super().__init__('webrtc_bridge')
        values = read_parameters(self, BridgeParameters)
        self._way = media_way(
            stun_urls=values.stun_urls,
            turn_urls=values.turn_urls,
            turn_lifetime_s=values.turn_lifetime_s,
            ice_udp_ports=values.ice_udp_ports,
            announced=values.announced_addresses,
            environment=os.environ,
        )
        self._state_folder = StateFolder(values.state_dir)
        entrance = open_entrance(
            host=values.host,
            port=values.port,
            tls_certificate=values.tls_certificate,
            tls_key=values.tls_key,
            public_names=values.public_names,
            limits=DoorLimits(),
            folder=self._state_folder,
            log=self.get_logger().info,
        )
        self._stop = stop
        self._values = values
        self._calls = ExecutorCalls(self)
        self._loop = self._loop_for(self._way)
        self._lobby: Lobby | None = None
        self._ended = asyncio.Event()
        self._serving = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(entrance,), name='web', daemon=True)
        self._thread.start()
        self._serving.wait(timeout=10.0)
        self._watch = WorkcellWatch(self, self._on_workcell, values.workcells)

    def _loop_for(self, way: MediaWay) -> asyncio.AbstractEventLoop:
        return asyncio.new_event_loop() if way.ports is None else PortRangeLoop(way.ports, self.get_logger().error)

    def close(self) -> None:
        """Closes all pages' connections and ends the event loop's thread."""
        self._calls.close()
        if not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(self._ended.set)
            except RuntimeError:
                pass
        self._thread.join(timeout=4.0)

    def _on_workcell(self, info: WorkcellInfo) -> None:
        lobby = self._lobby
        if lobby is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lobby.on_workcell, info)

    def _run(self, entrance: Entrance) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve(entrance))
        except Exception as error:
            self.get_logger().fatal(f'the web server failed: {type(error).__name__}: {error}')
            self._stop.request(f'the web server failed: {error}', exit_code=1)
        finally:
            self._serving.set()
            self._loop.close()

    def _on_loop_error(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get('exception')
        # Without an exception it is about objects that are let go; these errors are of a page that has just gone.
        if error is not None and not isinstance(error, (ConnectionError, SSL.Error)):
            self.get_logger().warning(f'{context.get("message")}: {type(error).__name__}{place_of(error)}: {error}')

    async def _serve(self, entrance: Entrance) -> None:
        self._loop.set_exception_handler(self._on_loop_error)
        values = self._values
        rules = LobbyRules(
            grace_s=values.grace_s,
            idle_s=values.idle_s,
            sessions=SessionRules(
                messages_per_s=values.messages_per_s,
                service_timeout_s=values.service_timeout_s,
                episode_timeout_s=values.episode_timeout_s,
                require_recording=values.require_recording,
                adaptive_video=values.adaptive_video,
                way=self._way,
            ),
        )
        # Bridges that share a folder differ by their ports.
        state = (self._state_folder, f'sessions-{values.port}.json')
        self._lobby = Lobby(
            RosSide(self, self._calls, self._loop),
            rules,
            self.get_logger().info,
            state,
            entrance.door.invitations,
            entrance.places,
        )
        app = build_app(self._lobby, entrance, self._way)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0, keepalive_timeout=KEEPALIVE_S)
        await runner.setup()
        assert runner.server is not None
        give_every_request_a_target(runner.server)
        async with entrance.opened(runner.server):
            print(entrance.text, flush=True)
            self._serving.set()
            asking = self._loop.create_task(self._ask_servers())
            await self._ended.wait()
            asking.cancel()
        await self._lobby.close()
        await runner.cleanup()

    async def _ask_servers(self) -> None:
        told: dict[str, str] = {}
        while self._way.servers.stun_urls or self._way.servers.turn_urls:
            findings = await check_servers(self._way.servers)
            self._way.servers.leave_out(finding.url for finding in findings if finding.problem)
            for finding in findings:
                if finding.problem != told.get(finding.url, ''):
                    self.get_logger().warning(f'{finding.url}: {finding.problem or "it serves again"}')
                told[finding.url] = finding.problem
            await asyncio.sleep(ASK_SERVERS_PERIOD_S)


def _build(stop: Stop) -> Node:
    # Lost links are told on the page; the libraries' own lines say nothing to an operator.
    for name in ('aioice', 'aiortc'):
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger('aiohttp.server').addFilter(MalformedRequests())
    sctp_timing.shorten()
    return WebRtcBridge(stop)


def main() -> int:
    """Entry point."""
    return run_node(
        'webrtc_bridge',
        "Operators' pages: live video down, device samples up.",
        BridgeParameters,
        _build,
        make_executor=message_executor,
    )


if __name__ == '__main__':
    sys.exit(main())
