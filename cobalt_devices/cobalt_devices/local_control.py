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
    ) -> None:
        self._node = node
        self._source = source
        self._operator = operator
        self._part = part
        self._on_workcell = on_workcell
        self._asked_s = float('-inf')
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

    def ask(self) -> None:
        """Asks for control, at most every few seconds, as long as this device has none."""
        now_s = time.monotonic()
        if self.info is None or self.lease_id or now_s - self._asked_s < _ASK_AGAIN_S:
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
        if self.lease_id and self.info is not None:
            request = ReleaseControl.Request(workcell_id=self.info.workcell_id, lease_id=self.lease_id)
            self.lease_id = ''
            self._release.call_async(request)
            time.sleep(0.05)

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
