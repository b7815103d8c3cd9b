"""Times as ROS stamps and as nanoseconds of the system clock."""

import time
from typing import Any

from builtin_interfaces.msg import Time


def to_stamp(nanoseconds: int) -> Time:
    """Returns a ROS stamp."""
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def to_nanoseconds(stamp: Any) -> int:
    """Returns nanoseconds of a ROS stamp."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def now_ns() -> int:
    """Returns the system time [ns]: ROS time, as `/clock` is never published."""
    return time.time_ns()
