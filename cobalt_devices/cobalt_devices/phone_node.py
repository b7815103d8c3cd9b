"""`phone_node`: drives arms by phones that operators hold, whose pages send poses through the bridge."""

import sys

from cobalt_devices.pose_device import run_pose_device


def main() -> int:
    """Entry point of `phone_node`."""
    return run_pose_device('phone', 'Drives arms by phones that operators hold.')


if __name__ == '__main__':
    sys.exit(main())
