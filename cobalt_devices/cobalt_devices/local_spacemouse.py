"""A SpaceMouse of this machine: drives the first workcell that is found, under a lease of its own, without any page."""

import threading
import time
from collections.abc import Sequence
from functools import partial

from builtin_interfaces.msg import Time
from rclpy.node import Node

from cobalt_devices.command_sender import CommandSender
from cobalt_devices.local_control import LocalControl, local_operator
from cobalt_devices.operator_axes import Reference
from cobalt_devices.rate_epoch import LINGER_S
from cobalt_devices.rate_mapper import RateMapper, RateSample, RateSettings
from cobalt_devices.spacemouse_hid import OpenSpaceMouse, SpaceMouseError, SpaceMouseLostError, hidapi, plugged_in
from cobalt_devices.spacemouse_reports import SpaceMouseState
from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.core.lease import TAKING_CONTROL_S
from cobalt_teleop.ros.stamps import now_ns, to_stamp

SOURCE = 'spacemouse'
"""Name of the device in its commands."""

_LOOK_AGAIN_S = 1.0
_SAMPLE_S = 0.025
_FEWEST_S = 0.015
_ALIVE_S = 1.0
_HELD_BEFORE_S = 0.1


class LocalSpaceMouse:
    """Finds a SpaceMouse, drives by it, and finds it again when it was unplugged.

    It asks for control with the first push, and gives it back some time after the last.

    Args:
        node: Its executor brings answers and states.
        settings: Axes, speeds and buttons.
        workcells: Names or patterns; empty for all.
        part: Part that it moves.
        operator: Name shown to others; who is logged in if empty.
        reference: Along whose axes it moves: view, base or tool.
        silence_s: A cap that is pushed and not heard for so long is out of reach [s].
        give_back_s: Control goes back so long after the last push [s].

    Raises:
        SpaceMouseError: hidapi is not installed.
    """

    def __init__(
        self,
        node: Node,
        settings: RateSettings,
        *,
        workcells: Sequence[str],
        part: str,
        operator: str,
        reference: str,
        silence_s: float,
        give_back_s: float,
    ) -> None:
        hidapi()
        self._node = node
        self._settings = settings
        self._part = part
        self._reference = Reference[reference.upper()]
        self._silence_s = silence_s
        self._give_back_s = give_back_s
        self._sender: CommandSender[RateSample] | None = None
        self._told = ''
        self._closing = threading.Event()
        self._control = LocalControl(
            node,
            source=SOURCE,
            operator=operator or local_operator(),
            workcells=workcells,
            part=part,
            on_workcell=self._on_workcell,
        )
        self._thread = threading.Thread(target=self._work, name='spacemouse', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Gives control and the device back."""
        self._closing.set()
        self._thread.join(timeout=1.0)
        self._control.give_back()

    def _on_workcell(self, info: WorkcellInfo) -> None:
        self._sender = CommandSender(
            self._node, info.workcell_id, self._part, SOURCE, partial(RateMapper, self._settings)
        )

    def _work(self) -> None:
        while not self._closing.is_set():
            mouse = self._find()
            if mouse is None:
                self._closing.wait(_LOOK_AGAIN_S)
                continue
            push = _Push(self._settings, self._silence_s)
            try:
                while not self._closing.is_set():
                    self._drive(mouse, push)
            except SpaceMouseLostError:
                self._send(SpaceMouseState(), engaged=False, tracked=False)
                self._tell(f'the {mouse.name} was unplugged; the arm holds. Plug it in again')
            finally:
                mouse.close()

    def _find(self) -> OpenSpaceMouse | None:
        interfaces = plugged_in()
        if not interfaces:
            self._tell(self._told or 'no SpaceMouse is plugged into this machine; it is looked for every second')
            return None
        try:
            mouse = OpenSpaceMouse(interfaces)
        except SpaceMouseError as error:
            self._tell(str(error))
            return None
        self._tell(f'{mouse.name}: push its cap to take control and to drive')
        return mouse

    def _drive(self, mouse: OpenSpaceMouse, push: '_Push') -> None:
        heard = mouse.read(_SAMPLE_S)
        now_s = time.monotonic()
        push.take(heard, now_s)
        self._control.attend(pressed=push.active)
        if push.active and not push.must_rest:
            self._control.ask()
        if not self._control.lease_id:
            push.had_lease = False
            if self._control.refusal:
                self._tell(self._control.refusal)
            return
        push.take_lease(now_s)
        idle_s = now_s - push.active_s
        if push.falls_silent(now_s):
            self._tell(f'the {mouse.name} is out of reach, or its battery is empty; the arm holds')
            self._send(push.state, engaged=False, tracked=False)
        elif self._has_news(push, heard is not None, idle_s, now_s):
            push.sent_s = now_s
            self._send(push.state, engaged=not push.must_rest, tracked=True)
        if idle_s > self._give_back_s:
            self._control.give_back()
            self._tell('control was given back, as nobody pushed the SpaceMouse; push it to take control again')

    @staticmethod
    def _has_news(push: '_Push', heard: bool, idle_s: float, now_s: float) -> bool:
        """Tells whether to send. What is repeated is a rest alone: a push that is not heard must not go on."""
        since_s = now_s - push.sent_s
        if heard:
            return since_s >= _FEWEST_S or not push.active
        return not push.deflected and (idle_s < 2 * LINGER_S or since_s > _ALIVE_S)

    def _send(self, state: SpaceMouseState, *, engaged: bool, tracked: bool) -> None:
        sender, lease_id = self._sender, self._control.lease_id
        if sender is None or not lease_id:
            return
        stamp_ns = time.monotonic_ns()
        sender.send(
            RateSample(
                stamp_ns=stamp_ns,
                axes=state.axes,
                buttons=state.buttons,
                press_counts=state.press_counts,
                engaged=engaged,
                tracked=tracked,
                reference=self._reference,
            ),
            lease_id=lease_id,
            stamp=to_stamp(now_ns()),
            device_stamp=to_stamp(stamp_ns),
            shown_frame_stamp=Time(),
        )

    def _tell(self, words: str) -> None:
        """Says something once, until there is something else to say."""
        if words != self._told:
            self._told = words
            self._node.get_logger().info(words)


class _Push:
    """What a person does with a cap, since it was opened.

    Args:
        settings: Axes and buttons.
        silence_s: A cap that is pushed and not heard for so long is out of reach [s].
    """

    def __init__(self, settings: RateSettings, silence_s: float) -> None:
        self._settings = settings
        self._silence_s = silence_s
        self._opened_s = self._heard_s = self._pressed_s = time.monotonic()
        self.state = SpaceMouseState()
        self.deflected = self.active = False
        self.must_rest = False
        """What he pushes now was not meant to drive: he has to let go first."""
        self.had_lease = True
        self.active_s = self.sent_s = float('-inf')

    def take(self, heard: SpaceMouseState | None, now_s: float) -> None:
        """Takes what was heard, if anything was."""
        if heard is not None:
            self.state, self._heard_s = heard, now_s
        was_active = self.active
        self.deflected = bool(self._settings.shares(self.state.axes).any())
        pressed = any(self.state.buttons >> index & 1 for index, _ in self._settings.gripper_buttons)
        self.active = self.deflected or pressed
        if not self.active:
            self.must_rest = False
            return
        if not was_active:
            self._pressed_s = now_s
            # Whatever is heard at once was held since before.
            self.must_rest = now_s - self._opened_s < _HELD_BEFORE_S
        if not self.must_rest:
            self.active_s = now_s

    def take_lease(self, now_s: float) -> None:
        """Control is there: a push that has waited long for it must not drive by it."""
        if not self.had_lease and self.active and now_s - self._pressed_s > TAKING_CONTROL_S:
            self.must_rest = True
        self.had_lease = True

    def falls_silent(self, now_s: float) -> bool:
        """Returns whether a cap that is pushed is not heard any more; once, and then it has to come to rest first."""
        silent = self.deflected and not self.must_rest and now_s - self._heard_s > self._silence_s
        self.must_rest |= silent
        return silent
