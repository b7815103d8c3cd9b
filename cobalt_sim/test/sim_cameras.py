from cobalt_sim.scene import focal_px
from cobalt_teleop.kinematics.robot_description import RobotDescription
from cobalt_teleop.workcell_host.plant import CameraModel


def camera(robot: RobotDescription, name: str, width: int = 160, height: int = 120) -> CameraModel:
    return CameraModel(name=name, width=width, height=height, rate_hz=20.0, focal_px=focal_px(robot, name, height))
