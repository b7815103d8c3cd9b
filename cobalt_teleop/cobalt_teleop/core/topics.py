"""The table of topics: every name, type and quality of service, once.

Nobody else writes a topic name or a profile. Names are relative to the workcell's namespace.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Qos:
    """Quality of service of a topic.

    Attributes:
        reliable: Lost messages are sent again.
        latched: The newest messages are kept for subscribers that come later (transient local).
        depth: How many messages are kept.
    """

    reliable: bool
    latched: bool
    depth: int


LATEST = Qos(reliable=False, latched=False, depth=1)
COMMANDS = Qos(reliable=False, latched=False, depth=8)
"""The newest wins, as with LATEST: a host empties the queue at each tick. It is deeper so that a stranger who publishes
on the same topic, and is refused, does not push out the command of the holder."""
SAMPLES = Qos(reliable=False, latched=False, depth=4)
"""The newest wins, as with LATEST; but a bridge says in one breath that a clutch was at rest and is pressed now."""
STEPS = Qos(reliable=True, latched=False, depth=100)
LATCHED = Qos(reliable=True, latched=True, depth=1)
LATCHED_REPORTS = Qos(reliable=True, latched=True, depth=10)
REPORTS = Qos(reliable=True, latched=False, depth=10)
SENSOR_DATA = Qos(reliable=False, latched=False, depth=5)

GOP_FRAMES = 40
"""Frames between two key frames of a camera's video, and so the depth of its topic."""

VIDEO = Qos(reliable=True, latched=False, depth=GOP_FRAMES)
REQUESTS = Qos(reliable=True, latched=False, depth=1)


@dataclass(frozen=True)
class Topic:
    """A topic of a workcell.

    Attributes:
        name: Relative to the workcell's namespace.
        type: ROS type, such as `cobalt_interfaces/msg/ControlStep`.
        qos: Its quality of service, for both sides.
    """

    name: str
    type: str
    qos: Qos

    def absolute(self, workcell_id: str) -> str:
        """Returns the full name, such as `/env_0/control_step`."""
        return f'/{workcell_id}/{self.name}'


class ForeignTopic(Topic):
    """A topic that others named, such as a robot's driver: its name is absolute."""

    def absolute(self, workcell_id: str) -> str:
        """Returns its name."""
        return self.name


def _cobalt(name: str, message: str, qos: Qos) -> Topic:
    return Topic(name, f'cobalt_interfaces/msg/{message}', qos)


CONTROL_STEP = _cobalt('control_step', 'ControlStep', STEPS)
CONTROL_STATE = _cobalt('control_state', 'ControlState', LATCHED)
EPISODE = _cobalt('episode', 'EpisodeState', LATCHED)
WORKCELL = _cobalt('workcell', 'WorkcellInfo', LATCHED)
SIMULATOR_STATE = _cobalt('simulator_state', 'SimulatorState', STEPS)
"""All that a simulation goes on from, before each row's action; published for who subscribes."""

GOAL_PICTURE = Topic('goal_picture', 'sensor_msgs/msg/CompressedImage', LATCHED)
"""What is to be done, as JPEG or PNG; nobody publishes it where there is none."""

RECORDING = _cobalt('recording', 'RecordingState', LATCHED)
QUALITY = _cobalt('quality', 'QualityReport', LATCHED_REPORTS)
LINK = _cobalt('link', 'LinkStats', REPORTS)
JOINT_STATES = Topic('joint_states', 'sensor_msgs/msg/JointState', SENSOR_DATA)


PAGE_DEVICES = ('keyboard', 'phone', 'vr', 'spacemouse', 'gamepad')
"""Devices whose samples come from operators' pages; also the sources of their commands."""


def operator_sample(device: str, part: str) -> Topic:
    """Samples of an operator's device, bridge to device node."""
    return _cobalt(f'operator/{device}/{part}', 'DeviceSample', SAMPLES)


def teleop_command(part: str) -> Topic:
    """A person's commands, device node to host."""
    return _cobalt(f'{part}/teleop_command', 'TeleopCommand', COMMANDS)


def policy_command(part: str) -> Topic:
    """A policy's commands, policy to host."""
    return _cobalt(f'{part}/policy_command', 'TeleopCommand', COMMANDS)


def target_pose(part: str) -> Topic:
    """The accepted target of the tool, host to tools."""
    return Topic(f'{part}/target_pose', 'geometry_msgs/msg/PoseStamped', SENSOR_DATA)


def current_pose(part: str) -> Topic:
    """The measured pose of the tool, host to tools."""
    return Topic(f'{part}/current_pose', 'geometry_msgs/msg/PoseStamped', SENSOR_DATA)


def object_pose(name: str) -> Topic:
    """Pose of an object of the task in simulation, host to tools and scripted operators."""
    return Topic(f'object/{name}/pose', 'geometry_msgs/msg/PoseStamped', SENSOR_DATA)


VIDEO_CODECS = ('h264', 'vp8')
"""In which a camera's video is offered, each on a topic of its own, encoded only while somebody subscribes."""


def video(camera: str, codec: str = 'h264') -> Topic:
    """A camera's encoded frames: H.264 Annex B, no B-frames, SPS and PPS with each key frame; or VP8 for browsers."""
    name = 'video' if codec == 'h264' else f'video_{codec}'
    return Topic(f'camera/{camera}/{name}', 'foxglove_msgs/msg/CompressedVideo', VIDEO)


def request_key_frame(camera: str) -> Topic:
    """Asks the encoder of a camera for a key frame."""
    return Topic(f'camera/{camera}/request_key_frame', 'std_msgs/msg/Empty', REQUESTS)


def image_raw(camera: str) -> Topic:
    """A camera's raw pictures."""
    return Topic(f'camera/{camera}/image_raw', 'sensor_msgs/msg/Image', SENSOR_DATA)


def image_compressed(camera: str) -> Topic:
    """A camera's pictures as JPEG or PNG, under the name that image_transport gives them."""
    return Topic(f'camera/{camera}/image_raw/compressed', 'sensor_msgs/msg/CompressedImage', SENSOR_DATA)


def camera_info(camera: str) -> Topic:
    """A camera's intrinsics."""
    return Topic(f'camera/{camera}/camera_info', 'sensor_msgs/msg/CameraInfo', SENSOR_DATA)


SERVICES = (
    'AcquireControl', 'ReleaseControl', 'TransferControl', 'SetAuthority', 'StartEpisode', 'EndEpisode',
    'LabelEpisode', 'Home', 'EmergencyStop', 'ClearEmergencyStop', 'SetCamera',
)  # fmt: skip
"""Types in cobalt_interfaces.srv that each host serves."""


def service_name(host_id: str, service: str) -> str:
    """Returns a service's full name, such as `/sim/acquire_control` for `AcquireControl`."""
    snake = ''.join(f'_{letter.lower()}' if letter.isupper() else letter for letter in service).lstrip('_')
    return f'/{host_id}/{snake}'


def base_frame(workcell_id: str, part: str) -> str:
    """Frame in which the poses of a part are given (REP 105)."""
    return f'{workcell_id}/{part}_base'


def optical_frame(workcell_id: str, camera: str) -> str:
    """Frame of a camera: x right, y down, z into the picture (REP 103)."""
    return f'{workcell_id}/{camera}_optical_frame'
