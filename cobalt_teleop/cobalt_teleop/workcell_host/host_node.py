"""The node that hosts workcells: services for people, ticks for the plants."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rclpy.node import Node

from cobalt_interfaces import srv
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.stamps import to_stamp
from cobalt_teleop.workcell_host.name_locks import NameLocks
from cobalt_teleop.workcell_host.plant import Plant
from cobalt_teleop.workcell_host.request_texts import check_texts, printable_name
from cobalt_teleop.workcell_host.sole_host import refuse_second_host
from cobalt_teleop.workcell_host.stop_button import StopButton
from cobalt_teleop.workcell_host.stop_button_parameters import StopButtonParameters
from cobalt_teleop.workcell_host.stop_memory import StopMemory
from cobalt_teleop.workcell_host.tick_schedule import TickSchedule
from cobalt_teleop.workcell_host.workcell import HostOptions, Workcell

__all__ = ['HostNode', 'HostOptions']

_VERSION = '0.1.0'


def software_identity() -> tuple[str, str]:
    """Returns version and hash of the source tree; the hash is empty where there is no git checkout."""
    try:
        described = subprocess.run(
            ['git', 'describe', '--always', '--dirty', '--abbrev=12'],
            cwd=Path(__file__).resolve().parent,
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return _VERSION, ''
    return _VERSION, described.stdout.strip()


class HostNode(Node):
    """Hosts workcells: one namespace each, services under `/<host_id>/`, where the host's id is the node's name.

    Args:
        default_name: Of the node, unless it is remapped.
    """

    def __init__(self, default_name: str) -> None:
        super().__init__(default_name)
        self._made_s = time.monotonic()
        host_id = self.get_name()
        self._locks = NameLocks()
        self._workcells: dict[str, Workcell] = {}
        self._schedule: TickSchedule | None = None
        self._stop_button: StopButton | None = None
        handlers: dict[str, Callable[[Any, Any], None]] = {
            'AcquireControl': self._acquire_control,
            'ReleaseControl': self._release_control,
            'TransferControl': self._transfer_control,
            'SetAuthority': self._set_authority,
            'StartEpisode': self._start_episode,
            'EndEpisode': self._end_episode,
            'LabelEpisode': self._label_episode,
            'Home': self._home,
            'EmergencyStop': self._emergency_stop,
            'ClearEmergencyStop': self._clear_emergency_stop,
            'SetCamera': self._set_camera,
        }
        for name in topics.SERVICES:
            self.create_service(getattr(srv, name), topics.service_name(host_id, name), self._answering(handlers[name]))
        self.create_timer(1.0, self._look_at_publishers)

    def host(self, plants: Mapping[str, Plant], options: HostOptions) -> None:
        """Takes the plants, by workcell id, and begins to tick.

        Raises:
            ServedAlreadyError: Another host in this ROS domain serves a workcell of one of these names.
        """
        refuse_second_host(self, plants, self._locks, made_s=self._made_s)
        software = software_identity()
        for workcell_id, plant in plants.items():
            self._workcells[workcell_id] = Workcell(
                self, workcell_id, self.get_name(), plant, options, software, StopMemory(self._locks, workcell_id)
            )
        threads = options.render_threads or os.cpu_count() or 1
        self._schedule = TickSchedule(
            [workcell.tick for workcell in self._workcells.values()],
            period_s=1.0 / options.control_rate_hz,
            threads=min(threads, len(self._workcells)),
            on_start=self._show_goals,
            on_thread_end=options.on_thread_end,
        )
        self._schedule.start()

    def _show_goals(self) -> None:
        for workcell in self._workcells.values():
            workcell.show_goal()

    def hear_stop_button(self, parameters: StopButtonParameters) -> None:
        """Has a button over a topic stop every workcell; a parameter without a topic has none."""
        if parameters.stop_topic:
            self._stop_button = StopButton(self, parameters, self._stop_all)

    def _stop_all(self, who: str) -> None:
        for workcell in self._workcells.values():
            workcell.emergency_stop(who)

    def close(self) -> None:
        """Ends the ticks and brings the plants to rest."""
        if self._schedule is not None:
            self._schedule.stop()
        for workcell in self._workcells.values():
            workcell.close()
        self._locks.release()

    def _answering(self, handler: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
        """Turns what a handler raises into the answer's reason."""

        def answer(request: Any, response: Any) -> Any:
            try:
                if isinstance(request, srv.EmergencyStop.Request):
                    request.who = printable_name(request.who)  # whatever is said with it, a stop stops
                check_texts(request)
                handler(request, response)
                response.ok = True
            except CobaltError as error:
                response.ok, response.reason = False, str(error)
            except Exception as error:
                response.ok, response.reason = False, f'the host failed: {type(error).__name__}: {error}'
                self.get_logger().error(response.reason)
            return response

        return answer

    def _workcell(self, workcell_id: str) -> Workcell:
        if workcell_id not in self._workcells:
            raise CobaltError(f"there is no workcell '{workcell_id}' here; there are {', '.join(self._workcells)}")
        return self._workcells[workcell_id]

    def _look_at_publishers(self) -> None:
        for workcell in self._workcells.values():
            workcell.look_at_publishers()

    def _acquire_control(self, request: Any, response: Any) -> None:
        workcell = self._workcell(request.workcell_id)
        response.holder = workcell.holder()
        lease = workcell.acquire(
            request.session_id, request.operator_id, request.parts, request.takeover, request.sources
        )
        response.lease_id, response.holder = lease.lease_id, lease.holder
        response.expiry = to_stamp(workcell.expiry_ns(lease))

    def _release_control(self, request: Any, response: Any) -> None:
        self._workcell(request.workcell_id).release(request.lease_id)

    def _transfer_control(self, request: Any, response: Any) -> None:
        workcell = self._workcell(request.workcell_id)
        lease = workcell.transfer(request.lease_id, request.session_id, request.operator_id, request.sources)
        response.lease_id, response.expiry = lease.lease_id, to_stamp(workcell.expiry_ns(lease))

    def _set_authority(self, request: Any, response: Any) -> None:
        workcell = self._workcell(request.workcell_id)
        response.authority_epoch = workcell.set_authority(request.lease_id, request.authority, request.reason)

    def _start_episode(self, request: Any, response: Any) -> None:
        response.episode_id = self._workcell(request.workcell_id).start_episode(request)

    def _end_episode(self, request: Any, response: Any) -> None:
        self._workcell(request.workcell_id).end_episode(request.lease_id, request.outcome, request.note)

    def _label_episode(self, request: Any, response: Any) -> None:
        self._workcell(request.workcell_id).label_episode(
            request.episode_id, request.outcome, request.outcome_source, request.note
        )

    def _home(self, request: Any, response: Any) -> None:
        self._workcell(request.workcell_id).home(request.lease_id, request.speed_scale)

    def _emergency_stop(self, request: Any, response: Any) -> None:
        names = [request.workcell_id] if request.workcell_id else list(self._workcells)
        for workcell in [self._workcell(name) for name in names]:
            workcell.emergency_stop(request.who)

    def _clear_emergency_stop(self, request: Any, response: Any) -> None:
        objection = self._stop_button.objection if self._stop_button is not None else ''
        if objection:
            raise CobaltError(objection)
        self._workcell(request.workcell_id).clear_emergency_stop(request.who, request.confirm)

    def _set_camera(self, request: Any, response: Any) -> None:
        self._workcell(request.workcell_id).set_camera(request)
