"""The terminal back end: keys of the terminal that the node runs in, for one workcell, under a lease of its own."""

import getpass
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.node import Node

from cobalt_devices.command_sender import CommandSender
from cobalt_devices.key_help import key_map
from cobalt_devices.keyboard_mapper import KeyboardRates
from cobalt_devices.status_line import status_line
from cobalt_devices.terminal_keys import TerminalKeys
from cobalt_devices.tty_input import TtyInput
from cobalt_interfaces.msg import ControlState, WorkcellInfo
from cobalt_interfaces.srv import AcquireControl, ReleaseControl
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_subscription
from cobalt_teleop.ros.process import Stop
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.ros.workcells import WorkcellWatch

_SAMPLE_S = 0.025
_STATUS_S = 0.1
_ASK_AGAIN_S = 2.0

_INTRODUCTION = """\
A terminal cannot tell when a key is released. A tap makes one small step; a key that stays down moves the arm once
the terminal repeats it, until 0.2 s after its last repeat, and one key at a time. Capital letters move slowly.
The page in the browser knows none of these limits.
"""


class TerminalKeyboard:
    """Drives the first workcell that is found.

    Args:
        node: Its executor brings answers and states.
        workcells: Names or patterns; empty for all.
        part: Part that the keys move.
        rates: Speeds, view and leash.
        stop: Told when the operator presses Escape.

    Raises:
        CobaltError: Standard input is no terminal.
    """

    def __init__(self, node: Node, workcells: Sequence[str], part: str, rates: KeyboardRates, stop: Stop) -> None:
        self._tty = TtyInput()
        self._node = node
        self._part = part
        self._rates = rates
        self._stop = stop
        self._session_id = f'terminal-{uuid.uuid4().hex[:12]}'
        self._operator = _operator_name()
        self._info: WorkcellInfo | None = None
        self._sender: CommandSender | None = None
        self._state: ControlState | None = None
        self._lease_id = ''
        self._refusal = ''
        self._asked_s = float('-inf')
        self._closing = threading.Event()
        print(f'back end terminal: keys come from this terminal\n\n{key_map()}\n\n{_INTRODUCTION}', flush=True)
        self._watch = WorkcellWatch(node, self._on_workcell, workcells)
        self._thread = threading.Thread(target=self._read, name='terminal', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Gives control and the terminal back."""
        self._closing.set()
        self._thread.join(timeout=1.0)
        self._tty.close()
        print(flush=True)
        if self._lease_id and self._info is not None:
            # The executor has ended: the request is sent, its answer is not waited for.
            request = ReleaseControl.Request(workcell_id=self._info.workcell_id, lease_id=self._lease_id)
            self._release.call_async(request)
            time.sleep(0.05)

    def _on_workcell(self, info: WorkcellInfo) -> None:
        if self._info is not None or self._part not in [part.name for part in info.parts]:
            return
        self._sender = CommandSender(self._node, info.workcell_id, self._part, self._rates)
        self._acquire, self._release = (
            self._node.create_client(service, topics.service_name(info.host_id, service.__name__))
            for service in (AcquireControl, ReleaseControl)
        )
        create_subscription(self._node, topics.CONTROL_STATE, info.workcell_id, self._on_state)
        self._info = info

    def _on_state(self, state: ControlState) -> None:
        self._state = state
        if self._lease_id and state.lease_id != self._lease_id:
            self._lease_id = ''

    def _ask_for_control(self, now_s: float) -> None:
        info = self._info
        if info is None or self._lease_id or now_s - self._asked_s < _ASK_AGAIN_S:
            return
        if not self._acquire.service_is_ready():
            return
        self._asked_s = now_s
        request = AcquireControl.Request(
            workcell_id=info.workcell_id, session_id=self._session_id, operator_id=self._operator
        )
        self._acquire.call_async(request).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        answer = future.result()
        if answer.ok:
            self._lease_id, self._refusal = answer.lease_id, ''
        else:
            self._refusal = answer.reason

    def _read(self) -> None:
        keys = TerminalKeys()
        drawn_s = float('-inf')
        while not self._closing.is_set():
            typed = self._tty.read(_SAMPLE_S)
            now_s = time.monotonic()
            keys.feed(typed or '', now_s)
            if typed is None or keys.stop:
                self._stop.request()
                return
            self._ask_for_control(now_s)
            sample = keys.sample(now_s)
            sender, lease_id = self._sender, self._lease_id
            if sender is not None and lease_id:
                stamp = to_stamp(now_ns())
                sender.send(
                    sample,
                    session_id=self._session_id,
                    lease_id=lease_id,
                    stamp=stamp,
                    device_stamp=to_stamp(sample.stamp_ns),
                    shown_frame_stamp=Time(),
                )
            if now_s - drawn_s >= _STATUS_S:
                drawn_s = now_s
                part = sender.look() if sender is not None else None
                line = status_line(
                    workcell_id=self._info.workcell_id if self._info is not None else '',
                    buttons=sample.buttons,
                    has_lease=bool(lease_id),
                    holder=self._state.holder if self._state is not None else '',
                    refusal=self._refusal,
                    hold_reason=None if part is None else part.hold_reason,
                )
                sys.stdout.write(f'\r\x1b[K{line}')
                sys.stdout.flush()


def _operator_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return 'terminal'
