"""The terminal back end: keys of the terminal that the node runs in, for one workcell, under a lease of its own."""

import sys
import threading
import time
from collections.abc import Sequence
from functools import partial

from builtin_interfaces.msg import Time
from rclpy.node import Node

from cobalt_devices.command_sender import CommandSender
from cobalt_devices.key_help import key_map
from cobalt_devices.keyboard_mapper import SOURCE, KeyboardMapper, KeyboardRates, KeySample
from cobalt_devices.local_control import LocalControl, local_operator
from cobalt_devices.status_line import status_line
from cobalt_devices.terminal_keys import QUIET_S, TerminalKeys
from cobalt_devices.tty_input import TtyInput
from cobalt_interfaces.msg import PartStep, WorkcellInfo
from cobalt_teleop.ros.process import Stop
from cobalt_teleop.ros.stamps import now_ns, to_stamp

_SAMPLE_S = 0.025
_STATUS_S = 0.1
_LATE_S = 0.25

_FREE = (PartStep.HOLD_NONE, PartStep.HOLD_NO_COMMAND, PartStep.HOLD_NOT_ENGAGED)
_UNTIL_PRESSED = (
    PartStep.HOLD_STALE,
    PartStep.HOLD_JUMP,
    PartStep.HOLD_REENGAGE,
    PartStep.HOLD_FRAME_STALE,
    PartStep.HOLD_NOT_TRACKED,
    PartStep.HOLD_INVALID,
    PartStep.HOLD_BLOCKED,
)
"""Reasons that a fresh press ends: while they last, one may be on its way."""

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
        self._sender: CommandSender[KeySample] | None = None
        self._closing = threading.Event()
        print(f'back end terminal: keys come from this terminal\n\n{key_map()}\n\n{_INTRODUCTION}', flush=True)
        self._control = LocalControl(
            node,
            source=SOURCE,
            operator=local_operator(),
            workcells=workcells,
            part=part,
            on_workcell=self._on_workcell,
            say=lambda words: None,  # the status line shows it
        )
        self._thread = threading.Thread(target=self._read, name='terminal', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Gives control and the terminal back."""
        self._closing.set()
        self._thread.join(timeout=1.0)
        self._tty.close()
        print(flush=True)
        self._control.give_back()

    def _on_workcell(self, info: WorkcellInfo) -> None:
        self._sender = CommandSender(
            self._node, info.workcell_id, self._part, SOURCE, partial(KeyboardMapper, self._rates)
        )

    def _read(self) -> None:
        keys, rests = TerminalKeys(), _Rests()
        drawn_s = float('-inf')
        before_s = time.monotonic()
        while not self._closing.is_set():
            typed = self._tty.read(_SAMPLE_S)
            now_s = time.monotonic()
            if now_s - before_s > _LATE_S:
                keys.rest(now_s)  # what was typed while this process stood still is of a time that nobody knows
            before_s = now_s
            keys.feed(typed or '', now_s)
            if typed is None or keys.stop:
                self._stop.request()
                return
            self._control.attend(pressed=bool(typed))
            self._control.ask()
            sample = keys.sample(now_s)
            sender, lease_id = self._sender, self._control.lease_id
            if rests.lost_control(lease_id):
                keys.rest(now_s)
            if sender is not None and lease_id:
                stamp = to_stamp(now_ns())
                sender.send(
                    sample,
                    lease_id=lease_id,
                    stamp=stamp,
                    device_stamp=to_stamp(sample.stamp_ns),
                    shown_frame_stamp=Time(),
                )
            if now_s - drawn_s >= _STATUS_S:
                drawn_s = now_s
                part = sender.look() if sender is not None else None
                if part is not None and rests.held(part.hold_reason) and keys.typed_within(QUIET_S, now_s):
                    keys.rest(now_s)
                line = status_line(
                    workcell_id=self._control.info.workcell_id if self._control.info is not None else '',
                    buttons=sample.buttons | keys.tapped(now_s),
                    has_lease=bool(lease_id),
                    holder=self._control.holder,
                    refusal=self._control.refusal,
                    hold_reason=None if part is None else part.hold_reason,
                    must_rest=keys.must_rest,
                    requested_by=self._control.requested_by,
                )
                sys.stdout.write(f'\r\x1b[K{line}')
                sys.stdout.flush()


class _Rests:
    """Tells when a key that is held must be let go of: a terminal shows no release, and its repeats go on."""

    def __init__(self) -> None:
        self._reason: int = PartStep.HOLD_NO_COMMAND
        self._lease_id = ''

    def lost_control(self, lease_id: str) -> bool:
        """Takes the lease, and returns whether it is another one than the one before."""
        before, self._lease_id = self._lease_id, lease_id
        return bool(before) and before != lease_id

    def held(self, reason: int) -> bool:
        """Takes why the arm holds, and returns whether it holds for what no press of before may outlast."""
        before, self._reason = self._reason, reason
        if reason in _FREE:
            return False
        return before in _FREE if reason in _UNTIL_PRESSED else True
