"""A camera's calibration, as ROS's camera_calibration writes it: YAML with camera_matrix and distortion."""

from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sensor_msgs.msg import CameraInfo

from cobalt_teleop.core.errors import CobaltError

_MATRICES = {
    'camera_matrix': ('k', 9),
    'rectification_matrix': ('r', 9),
    'projection_matrix': ('p', 12),
    'distortion_coefficients': ('d', None),
}


def read_calibration(path: Path) -> CameraInfo:
    """Returns the intrinsics of a file, without a stamp.

    Raises:
        CobaltError: The file cannot be read, or something in it is missing or has a wrong size.
    """
    try:
        data = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise CobaltError(f'the calibration {path} cannot be read: {error}') from error
    if not isinstance(data, dict):
        raise CobaltError(f'the calibration {path} must be a table with camera_matrix, distortion_model, …')
    try:
        info = CameraInfo(
            width=int(data['image_width']),
            height=int(data['image_height']),
            distortion_model=str(data.get('distortion_model', 'plumb_bob')),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CobaltError(f'the calibration {path} needs image_width and image_height: {error}') from error
    for name, (attribute, size) in _MATRICES.items():
        if name in data:
            setattr(info, attribute, _numbers(path, name, data[name], size))
    if not any(info.k):
        raise CobaltError(f"the calibration {path} lacks 'camera_matrix'")
    return info


def _numbers(path: Path, name: str, value: Any, size: int | None) -> list[float]:
    try:
        numbers = np.array(value['data'], dtype=float)
    except (KeyError, TypeError, ValueError) as error:
        raise CobaltError(f"the calibration {path}: '{name}' needs a list of numbers below 'data'") from error
    if numbers.ndim != 1 or (size is not None and numbers.size != size) or not np.isfinite(numbers).all():
        raise CobaltError(f"the calibration {path}: '{name}' must have {size or 'some'} numbers, not {numbers.size}")
    return [float(number) for number in numbers]
