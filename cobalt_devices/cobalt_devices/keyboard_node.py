"""`keyboard_node`: drives arms from the keys of browser pages, or of the terminal that it runs in."""

import sys
from functools import partial
from typing import Any

from rclpy.node import Node

from cobalt_devices.key_help import key_map
from cobalt_devices.keyboard_mapper import SOURCE, KeyboardMapper, KeySample
from cobalt_devices.keyboard_parameters import KeyboardParameters
from cobalt_devices.operator_axes import reference_of
from cobalt_devices.page_device import PageDevice, device_time_ns
from cobalt_devices.sample_publishers import SamplePublishers
from cobalt_devices.terminal_keyboard import TerminalKeyboard
from cobalt_interfaces.msg import DeviceSample
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node

_SUMMARY = (
    f'Drives arms by keys: from browser pages (backend page), or from this terminal (backend terminal).\n\n{key_map()}'
)


def key_sample(sample: DeviceSample) -> KeySample:
    """Returns what the mapper takes of a page's sample."""
    return KeySample(
        stamp_ns=device_time_ns(sample),
        buttons=sample.buttons,
        press_counts=tuple(sample.press_counts),
        engaged=sample.engaged,
        tracked=sample.tracked,
        reference=reference_of(sample.reference),
        heading=sample.heading,
    )


class KeyboardNode(Node):
    """Drives one part of each workcell from the keys of one back end.

    Args:
        stop: Told when the terminal's operator gives up control.
        publishers: Tells whose samples of pages count.
        options: Of rclpy's Node.
    """

    def __init__(self, stop: Stop, publishers: SamplePublishers | None = None, **options: Any) -> None:
        super().__init__('keyboard_node', **options)
        parameters = read_parameters(self, KeyboardParameters)
        self._terminal: TerminalKeyboard | None = None
        if parameters.backend == 'terminal':
            self._terminal = TerminalKeyboard(self, parameters.workcells, parameters.part, parameters.rates(), stop)
        else:
            self.get_logger().info('back end page: keys come from browser pages through the bridge')
            self._page = PageDevice(
                self,
                SOURCE,
                workcells=parameters.workcells,
                parts=(parameters.part,),
                make_mapper=partial(KeyboardMapper, parameters.rates()),
                read=key_sample,
                publishers=publishers or SamplePublishers(),
                at_once=True,  # the key that takes control moves the arm
            )

    def close(self) -> None:
        """Gives the terminal back as it was."""
        if self._terminal is not None:
            self._terminal.close()


def main() -> int:
    """Entry point of `keyboard_node`."""
    return run_node('keyboard_node', _SUMMARY, KeyboardParameters, KeyboardNode, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
