"""What a workcell publishes, beside its pictures."""

from collections.abc import Mapping
from dataclasses import dataclass

from rclpy.node import Node

from cobalt_interfaces.msg import ControlState, ControlStep, SimulatorState
from cobalt_teleop.core import topics
from cobalt_teleop.core.episode import Episode
from cobalt_teleop.core.lease import Lease
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.workcell_host import messages
from cobalt_teleop.workcell_host.plant import Capabilities, FullState, Observation, TaskInfo

_EXPIRY_NEWS_S = 3.0


@dataclass(frozen=True, kw_only=True)
class ControlSnapshot:
    """Who drives and why not, at one tick."""

    lease: Lease | None
    requested_by: str
    authority: int
    authority_epoch: int
    hold_reason: int
    estop_by: str
    faults: tuple[str, ...]

    def news(self) -> tuple[object, ...]:
        """Returns what, when it changes, is told at once."""
        lease_id = self.lease.lease_id if self.lease is not None else ''
        return (
            lease_id,
            self.requested_by,
            self.authority,
            self.authority_epoch,
            self.hold_reason,
            self.estop_by,
            self.faults,
        )


class WorkcellPublishers:
    """The publishers of one workcell. Messages for tools are made only while somebody subscribes.

    Args:
        node: Owns the endpoints.
        workcell_id: Namespace of the topics.
        host_id: Of the host.
        capabilities: Of the plant.
        control_rate_hz: [Hz].
        software: Version and hash.
    """

    def __init__(
        self,
        node: Node,
        workcell_id: str,
        host_id: str,
        capabilities: Capabilities,
        control_rate_hz: float,
        software: tuple[str, str],
    ) -> None:
        self._node = node
        self._id = workcell_id
        self._host_id = host_id
        self._capabilities = capabilities
        self._control_rate_hz = control_rate_hz
        self._software = software
        self._step = create_publisher(node, topics.CONTROL_STEP, workcell_id)
        self._control = create_publisher(node, topics.CONTROL_STATE, workcell_id)
        self._episode = create_publisher(node, topics.EPISODE, workcell_id)
        self._info = create_publisher(node, topics.WORKCELL, workcell_id)
        self._joint_states = create_publisher(node, topics.JOINT_STATES, workcell_id)
        names = [part.name for part in capabilities.parts]
        self._targets = {name: create_publisher(node, topics.target_pose(name), workcell_id) for name in names}
        self._poses = {name: create_publisher(node, topics.current_pose(name), workcell_id) for name in names}
        self._objects = {
            name: create_publisher(node, topics.object_pose(name), workcell_id) for name in capabilities.objects
        }
        self._full_state = (
            create_publisher(node, topics.SIMULATOR_STATE, workcell_id) if capabilities.tells_full_state else None
        )
        self._told: tuple[object, ...] | None = None
        self._told_expiry_s = 0.0

    def recorder_listens(self) -> bool:
        """Whether a recorder is there for this workcell."""
        return bool(self._node.count_publishers(topics.RECORDING.absolute(self._id)))

    def info(self, enabled_cameras: list[str]) -> None:
        """Tells what the workcell is."""
        self._info.publish(
            messages.workcell_info(
                self._id,
                self._host_id,
                self._capabilities,
                control_rate_hz=self._control_rate_hz,
                enabled_cameras=enabled_cameras,
                software=self._software,
            )
        )

    def step(self, row: ControlStep) -> None:
        """Tells one tick."""
        self._step.publish(row)

    @property
    def full_state_is_wanted(self) -> bool:
        """Whether somebody takes the simulator's state."""
        return self._full_state is not None and bool(self._full_state.get_subscription_count())

    def full_state(self, state: FullState | None, row: ControlStep) -> None:
        """Tells the simulator's state that a tick began with."""
        if self._full_state is not None and state is not None:
            self._full_state.publish(
                SimulatorState(header=row.header, step=row.step, format=state.format, values=state.values.tolist())
            )

    def episode(self, episode: Episode, first: TaskInfo, now_s: float) -> None:
        """Tells the state of the episode; before the first one, what it would be of."""
        message = messages.episode_state(self._id, self._capabilities.robot, episode, now_s)
        if episode.request is None:
            message.task, message.instruction = first.name, first.instruction
        self._episode.publish(message)

    def control(self, snapshot: ControlSnapshot, now_s: float) -> None:
        """Tells who drives, if that changed or the lease was renewed for long."""
        expires_s = snapshot.lease.expires_s if snapshot.lease is not None else 0.0
        if snapshot.news() == self._told and expires_s < self._told_expiry_s + _EXPIRY_NEWS_S:
            return
        self._told, self._told_expiry_s = snapshot.news(), expires_s
        stamp_ns = now_ns()
        message = ControlState(
            header=messages.header(stamp_ns, self._id),
            workcell_id=self._id,
            requested_by=snapshot.requested_by,
            authority=snapshot.authority,
            authority_epoch=snapshot.authority_epoch,
            hold_reason=snapshot.hold_reason,
            estop=bool(snapshot.estop_by),
            estop_by=snapshot.estop_by,
            faults=list(snapshot.faults),
        )
        if snapshot.lease is not None:
            message.lease_id = snapshot.lease.lease_id
            message.holder = snapshot.lease.holder
            message.sessions = [snapshot.lease.session]
            message.sources = list(snapshot.lease.sources)
            message.expiry = to_stamp(stamp_ns + int((expires_s - now_s) * 1e9))
        self._control.publish(message)

    def state_for_tools(self, state: Observation, targets: Mapping[str, Pose]) -> None:
        """Tells whoever subscribes the poses and joints before the action, and the targets of the action."""
        if self._joint_states.get_subscription_count():
            self._joint_states.publish(messages.joint_state(self._capabilities, state.parts, state.stamp_ns))
        for name, publisher in self._poses.items():
            frame = topics.base_frame(self._id, name)
            if publisher.get_subscription_count():
                publisher.publish(messages.pose_stamped(state.parts[name].pose, state.stamp_ns, frame))
            if name in targets and self._targets[name].get_subscription_count():
                self._targets[name].publish(messages.pose_stamped(targets[name], state.stamp_ns, frame))
        frame = topics.base_frame(self._id, self._capabilities.parts[0].name)
        for name, publisher in self._objects.items():
            if name in state.objects and publisher.get_subscription_count():
                publisher.publish(messages.pose_stamped(state.objects[name], state.stamp_ns, frame))
