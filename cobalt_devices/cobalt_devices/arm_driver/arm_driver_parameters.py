"""What arm_driver_node can be told."""

from dataclasses import dataclass

from cobalt_teleop.core.parameter_table import parameter
from cobalt_teleop.workcell_host.host_parameters import HostParameters


@dataclass(frozen=True, kw_only=True)
class ArmDriverParameters(HostParameters):
    """Parameters of arm_driver_node."""

    workcell: str = parameter('lab', 'Name of the workcell, and of its namespace')
    driver: str = parameter('ros2_control', 'What drives the arm; see: cobalt driver list')
    driver_options: tuple[str, ...] = parameter((), 'Options of the driver as name=value; they win over robot.yaml')
    robot: str = parameter('franka_panda', 'Arm: a name in robots/, or the path of a robot.yaml')
    shadow: bool = parameter(False, 'Everything runs, and nothing is sent to the arm')
    task: str = parameter('free', "Name of the task, for the bags' folder")
    instruction: str = parameter('', 'What the operator is to do, in a sentence')
    time_limit_s: float = parameter(0.0, 'Time limit of an episode [s]; 0 for none', lower=0.0, upper=3600.0)
    success_topic: str = parameter('', 'Topic of std_msgs/Bool that says that the task is done; empty for none')
    cameras: tuple[str, ...] = parameter((), 'Cameras whose video camera_encoder publishes in this workcell')
    goal_picture: str = parameter('', 'File, JPEG or PNG, shown as the goal; empty for none')
    state_dir: str = parameter('', 'Folder of what survives a restart, with who confirmed the limits')
