"""A part of a plant that is an arm of a robot.yaml."""

from cobalt_teleop.core.kinematics import Kinematics
from cobalt_teleop.kinematics.robot_description import RobotDescription
from cobalt_teleop.workcell_host.plant import PartDescription


def robot_part(name: str, robot: RobotDescription, kinematics: Kinematics) -> PartDescription:
    """Returns what the host knows of an arm.

    Args:
        name: Of the part: arm, or left and right.
        robot: Which arm.
        kinematics: Of this arm; not shared with other plants.
    """
    return PartDescription(
        name=name,
        robot=robot.name,
        joint_names=robot.joints,
        gripper_joint_name=robot.gripper.joint if robot.gripper else '',
        home=robot.home,
        limits=robot.limits,
        kinematics=kinematics,
    )
