"""What the nodes of phones, headsets and other poses can be told."""

from dataclasses import dataclass

from cobalt_devices.device_command import NextEpoch
from cobalt_devices.pose_filters import NAMES, filter_maker
from cobalt_devices.pose_mapper import PoseMapper
from cobalt_teleop.core.parameter_table import parameter


@dataclass(frozen=True, kw_only=True)
class PoseMotionParameters:
    """Parameters of how poses move an arm."""

    workcells: tuple[str, ...] = parameter((), 'Workcells to serve, as names or patterns; empty for all')
    view_yaw_deg: float = parameter(
        180.0, 'Yaw of the view in the base frame [deg]: 180 for a camera that faces the arm', lower=-360.0, upper=360.0
    )
    smoothing: str = parameter('none', 'Smoothing of the motion', choices=NAMES)
    smoothing_lag_s: float = parameter(0.06, 'Lag of fixed_lag [s]', lower=0.005, upper=0.5)
    smoothing_cutoff_hz: float = parameter(2.0, 'Cut-off of one_euro at rest [Hz]', lower=0.1, upper=20.0)

    def make_mapper(self, next_epoch: NextEpoch) -> PoseMapper:
        """Returns the mapper of a session."""
        make_filter = filter_maker(self.smoothing, lag_s=self.smoothing_lag_s, min_cutoff_hz=self.smoothing_cutoff_hz)
        return PoseMapper(self.view_yaw_deg, make_filter, next_epoch)


@dataclass(frozen=True, kw_only=True)
class PoseDeviceParameters(PoseMotionParameters):
    """Parameters of a device of pages that knows its pose."""

    parts: tuple[str, ...] = parameter((), 'Parts that it may drive; empty for all')
