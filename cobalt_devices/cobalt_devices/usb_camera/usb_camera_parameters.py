"""What usb_camera can be told."""

from dataclasses import dataclass

from cobalt_teleop.core.parameter_table import parameter


@dataclass(frozen=True, kw_only=True)
class UsbCameraParameters:
    """Parameters of usb_camera."""

    device: str = parameter('/dev/video0', 'Device; a video file plays again and again, to try things out')
    name: str = parameter('front', 'Name of the camera in the workcell')
    workcell: str = parameter('lab', 'Workcell in whose namespace the pictures are published')
    width: int = parameter(640, 'Width that is asked of the camera [px]', lower=16, upper=7680)
    height: int = parameter(480, 'Height that is asked of the camera [px]', lower=16, upper=4320)
    rate_hz: float = parameter(30.0, 'Pictures a second that are asked of the camera [Hz]', lower=1.0, upper=240.0)
    calibration: str = parameter('', "YAML file of ROS's camera_calibration; empty for none")
