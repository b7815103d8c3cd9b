"""A device of browser pages that moves the arm at a rate: a gamepad, or a SpaceMouse by WebHID."""

from functools import partial

from rclpy.node import Node

from cobalt_devices.fresh_press import FreshPressMapper
from cobalt_devices.operator_axes import reference_of
from cobalt_devices.page_device import PageDevice, device_time_ns
from cobalt_devices.rate_mapper import RateMapper, RateSample, RateSettings
from cobalt_devices.rate_parameters import RateParameters
from cobalt_devices.sample_publishers import SamplePublishers
from cobalt_interfaces.msg import DeviceSample


def rate_sample(sample: DeviceSample) -> RateSample:
    """Returns what the mapper takes of a page's sample."""
    return RateSample(
        stamp_ns=device_time_ns(sample),
        axes=tuple(sample.axes),
        buttons=sample.buttons,
        press_counts=tuple(sample.press_counts),
        engaged=sample.engaged,
        tracked=sample.tracked,
        clutch_epoch=sample.clutch_epoch,
        reference=reference_of(sample.reference),
        heading=sample.heading,
        scale=sample.scale or 1.0,
    )


def page_rates(
    node: Node,
    device: str,
    parameters: RateParameters,
    settings: RateSettings,
    publishers: SamplePublishers | None,
) -> PageDevice[RateSample]:
    """Has a node answer the samples of one kind of device.

    Args:
        node: Its executor brings the samples.
        device: One of topics.PAGE_DEVICES.
        parameters: Of the node.
        settings: Axes, speeds and buttons.
        publishers: Tells whose samples count; None for a node by itself.
    """
    return PageDevice(
        node,
        device,
        workcells=parameters.workcells,
        parts=parameters.parts,
        make_mapper=FreshPressMapper.around(partial(RateMapper, settings)),
        read=rate_sample,
        publishers=publishers or SamplePublishers(),
    )
