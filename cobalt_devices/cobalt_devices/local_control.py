"""Control of a workcell for a device of this machine, which has no page: takes it, keeps it, and gives it back."""

import getpass
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.node import Node

from cobalt_interfaces.msg import ControlState, WorkcellInfo
from cobalt_interfaces.srv import AcquireControl, ReleaseControl
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_subscription
from cobalt_teleop.ros.workcells import WorkcellWatch

GIVES_WAY_S = 3.0
"""Who is asked for control and presses nothing for so long gives it [s]."""

_ASK_AGAIN_S = 2.0


def local_operator() -> str:
    """Returns the name of who is logged in here."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return 'local operator'


class LocalControl:
    """The lease of one device, for the first workcell that is found.

    Args:
        node: Its executor brings answers and states.
        source: Name of the device in its commands.
        operator: Name shown to others.
        workcells: Names or patterns; empty for all.
        part: That the device drives.
        on_workcell: Called once, when the workcell is found.
        say: Tells the person who asks for control, and that it was given; to the node's log by default.
    """

    def __init__(
        self,
        node: Node,
        *,
        source: str,
        operator: str,
        workcells: Sequence[str],
        part: str,
        on_workcell: Callable[[WorkcellInfo], None],
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._node = node
        self._source = source
        self._operator = operator
        self._part = part
        self._on_workcell = on_workcell
        self._say = say or node.get_logger().info
        self._asked_s = float('-inf')
        self._pressed_s = float('-inf')
        self._requested: tuple[str, float] | None = None
        self._gave_way = False
        self.session_id = f'{source}-{uuid.uuid4().hex[:12]}'
        """Of this device, as long as its node runs."""
        self.info: WorkcellInfo | None = None
        """The workcell; None until one is found."""
        self.state: ControlState | None = None
        """Who has control, as the host said last."""
        self.lease_id = ''
        """The lease that this device holds, or empty."""
        self.refusal = ''
        """Why the host refused control."""
        self._watch = WorkcellWatch(node, self._found, workcells)

    @property
    def holder(self) -> str:
        """Who has control; empty if nobody has, or if it is not known."""
        return str(self.state.holder) if self.state is not None else ''

    @property
    def requested_by(self) -> str:
        """Who asks the holder for control; empty if nobody does."""
        return str(self.state.requested_by) if self.state is not None else ''

    def attend(self, *, pressed: bool) -> None:
        """Gives control to who asks for it, once nothing was pressed for a while. To be called again and again.

        Args:
            pressed: Something is pressed now.
        """
        now_s = time.monotonic()
        if pressed:
            self._pressed_s, self._gave_way = now_s, False
        asker = self.requested_by if self.lease_id else ''
        if not asker:
            self._requested = None
            return
        if self._requested is None or self._requested[0] != asker:
            self._requested = asker, now_s
            self._say(f'{asker} asks for control: press nothing for {GIVES_WAY_S:g} s, and it is theirs')
        if now_s - max(self._requested[1], self._pressed_s) >= GIVES_WAY_S:
            self._gave_way = True
            self._release_lease()
            self._say(f'control was given to {asker}, who asked for it; to ask for it again, press')

    def ask(self) -> None:
        """Asks for control, at most every few seconds, as long as this device has none.

        Who has given it to another one asks again with the next press.
        """
        now_s = time.monotonic()
        if self.info is None or self.lease_id or self._gave_way or now_s - self._asked_s < _ASK_AGAIN_S:
            return
        if not self._acquire.service_is_ready():
            return
        self._asked_s = now_s
        request = AcquireControl.Request(
            workcell_id=self.info.workcell_id,
            session_id=self.session_id,
            operator_id=self._operator,
            sources=[self._source],
        )
        self._acquire.call_async(request).add_done_callback(self._on_answer)

    def give_back(self) -> None:
        """Gives control back; the answer is not waited for, as the executor may have ended."""
        if self._release_lease():
            time.sleep(0.05)

    def _release_lease(self) -> bool:
        if not self.lease_id or self.info is None:
            return False
        request = ReleaseControl.Request(workcell_id=self.info.workcell_id, lease_id=self.lease_id)
        self.lease_id = ''
        self._release.call_async(request)
        return True

    def _found(self, info: WorkcellInfo) -> None:
        if self.info is not None or self._part not in [part.name for part in info.parts]:
            return
        self._acquire, self._release = (
            self._node.create_client(service, topics.service_name(info.host_id, service.__name__))
            for service in (AcquireControl, ReleaseControl)
        )
        create_subscription(self._node, topics.CONTROL_STATE, info.workcell_id, self._on_state)
        self._on_workcell(info)
        self.info = info

    def _on_state(self, state: ControlState) -> None:
        self.state = state
        if self.lease_id and state.lease_id != self.lease_id:
            self.lease_id = ''
        if not state.holder:
            self.refusal = ''

    def _on_answer(self, future: Any) -> None:
        answer = future.result()
        if answer.ok:
            self.lease_id, self.refusal = answer.lease_id, ''
        else:
            self.refusal = answer.reason
