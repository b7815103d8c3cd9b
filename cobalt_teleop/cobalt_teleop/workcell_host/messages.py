"""Messages of a host, built from the core's values."""

from collections.abc import Mapping, Sequence
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseStamped, Twist, Vector3
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from cobalt_interfaces.msg import (
    CameraDescription,
    ControlStep,
    EpisodeState,
    Limits,
    PartInfo,
    PartStep,
    TeleopCommand,
    WorkcellInfo,
)
from cobalt_teleop.core import topics
from cobalt_teleop.core.episode import Episode
from cobalt_teleop.core.part_controller import PartDecision
from cobalt_teleop.core.pose import Pose, Vector
from cobalt_teleop.ros.poses import pose_message
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.workcell_host.plant import Capabilities, PartState


def header(stamp_ns: int, frame_id: str) -> Header:
    """Returns a header."""
    return Header(stamp=to_stamp(stamp_ns), frame_id=frame_id)


def pose_stamped(pose: Pose, stamp_ns: int, frame_id: str) -> PoseStamped:
    """Returns a stamped pose."""
    return PoseStamped(header=header(stamp_ns, frame_id), pose=pose_message(pose))


def twist_message(twist: Vector) -> Twist:
    """Returns a twist from (6,)."""
    x, y, z, rx, ry, rz = twist.tolist()
    return Twist(linear=Vector3(x=x, y=y, z=z), angular=Vector3(x=rx, y=ry, z=rz))


def joint_state(capabilities: Capabilities, states: Mapping[str, PartState], stamp_ns: int) -> JointState:
    """Returns the joints of all parts; with several parts, names are `<part>/<joint>`."""
    message = JointState(header=header(stamp_ns, ''))
    several = len(capabilities.parts) > 1
    for part in capabilities.parts:
        state = states[part.name]
        message.name += [f'{part.name}/{name}' if several else name for name in part.joint_names]
        message.position.extend(state.joint_positions.tolist())
        message.velocity.extend(state.joint_velocities.tolist())
        message.effort.extend(state.joint_efforts.tolist())
    return message


def part_step(
    name: str,
    state: PartState,
    decision: PartDecision | None,
    *,
    human: TeleopCommand | None,
    human_age_ms: float,
    policy: TeleopCommand | None,
    policy_age_ms: float,
    extra_limits: int,
) -> PartStep:
    """Returns one part's share of a tick; without a decision, that of a terminal row."""
    message = PartStep(
        part=name,
        has_human=human is not None,
        has_policy=policy is not None,
        pose=pose_message(state.pose),
        twist=twist_message(state.twist),
        joint_positions=state.joint_positions.tolist(),
        joint_velocities=state.joint_velocities.tolist(),
        joint_efforts=state.joint_efforts.tolist(),
        gripper=state.gripper,
        human_age_ms=human_age_ms,
        policy_age_ms=policy_age_ms,
    )
    if human is not None:
        message.human = human
    if policy is not None:
        message.policy = policy
    if decision is not None:
        message.authority = int(decision.authority)
        message.source = decision.source
        message.anchor = pose_message(decision.anchor)
        message.target = pose_message(decision.target)
        message.joint_targets = decision.joint_targets.tolist()
        message.joint_velocity_targets = decision.joint_velocities.tolist()
        message.gripper_target = decision.gripper_target
        message.limits = int(decision.limits) | extra_limits
        message.hold_reason = int(decision.hold_reason)
    return message


def episode_state(workcell_id: str, robot: str, episode: Episode, now_s: float) -> EpisodeState:
    """Returns the latched state of the episode."""
    message = EpisodeState(
        header=header(now_ns(), workcell_id),
        workcell_id=workcell_id,
        robot_id=robot,
        phase=int(episode.phase),
        outcome=int(episode.outcome),
        outcome_source=int(episode.outcome_source),
        end_reason=episode.end_reason,
        started=to_stamp(episode.started_ns) if episode.started_ns else Time(),
        ended=to_stamp(episode.ended_ns) if episode.ended_ns else Time(),
        elapsed_s=episode.elapsed_s(now_s),
        first_step=episode.first_step,
        last_step=episode.last_step,
    )
    request = episode.request
    if request is not None:
        message.episode_id = request.episode_id
        message.task = request.task
        message.instruction = request.instruction
        message.operator_id = request.operator_id
        message.policy_id = request.policy_id
        message.seed = request.seed
        message.round = request.round
        message.time_limit_s = request.time_limit_s
        message.practice = request.practice
    return message


def workcell_info(
    workcell_id: str,
    host_id: str,
    capabilities: Capabilities,
    *,
    control_rate_hz: float,
    enabled_cameras: Sequence[str],
    software: tuple[str, str],
) -> WorkcellInfo:
    """Returns what a workcell is. Its declared topics are those that a recording must hold."""
    declared = [topics.CONTROL_STEP, topics.CONTROL_STATE, topics.EPISODE, topics.WORKCELL]
    enabled = [*enabled_cameras, *(camera.name for camera in capabilities.other_cameras)]
    declared += [topics.video(name) for name in enabled]
    flags = {'reset': capabilities.can_reset, 'success_predicate': capabilities.judges_success, 'home': True}
    return WorkcellInfo(
        header=header(now_ns(), workcell_id),
        schema_version=ControlStep.SCHEMA_VERSION,
        workcell_id=workcell_id,
        host_id=host_id,
        kind=WorkcellInfo.KIND_REAL if capabilities.real else WorkcellInfo.KIND_SIM,
        robot=capabilities.robot,
        parts=[
            PartInfo(
                name=part.name,
                robot=part.robot,
                base_frame=topics.base_frame(workcell_id, part.name),
                joint_names=list(part.joint_names),
                gripper_joint_name=part.gripper_joint_name,
            )
            for part in capabilities.parts
        ],
        cameras=[
            CameraDescription(
                name=camera.name,
                optical_frame=topics.optical_frame(workcell_id, camera.name),
                width=camera.width,
                height=camera.height,
                rate_hz=camera.rate_hz,
                codec='h264',
                enabled=camera.name in enabled,
                carried_by=camera.carried_by,
                yaw=camera.yaw,
            )
            for camera in (*capabilities.cameras, *capabilities.other_cameras)
        ],
        tasks=list(capabilities.tasks),
        control_rate_hz=control_rate_hz,
        limits=[_limits(part.name, part.limits) for part in capabilities.parts],
        capabilities=[name for name, has in flags.items() if has],
        declared_topics=[topic.absolute(workcell_id) for topic in declared],
        randomisation=capabilities.randomisation,
        software_version=software[0],
        software_hash=software[1],
    )


def _limits(part: str, limits: Any) -> Limits:
    return Limits(
        part=part,
        workspace_min=_point(limits.workspace_min),
        workspace_max=_point(limits.workspace_max),
        linear_speed=limits.linear_speed,
        angular_speed=limits.angular_speed,
        linear_acceleration=limits.linear_acceleration,
        angular_acceleration=limits.angular_acceleration,
        joint_lower=limits.joint_lower.tolist(),
        joint_upper=limits.joint_upper.tolist(),
        joint_speed=limits.joint_speed.tolist(),
        joint_acceleration=limits.joint_acceleration.tolist(),
        watchdog_ms=limits.watchdog_s * 1e3,
    )


def _point(vector: Vector) -> Point:
    x, y, z = vector.tolist()
    return Point(x=x, y=y, z=z)
