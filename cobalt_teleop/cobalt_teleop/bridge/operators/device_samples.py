"""Device samples and link statistics out of what a page says."""

import math
from collections.abc import Sequence

from cobalt_interfaces.msg import CameraLink, DeviceSample, LinkStats
from cobalt_teleop.bridge.operators.sample_gate import LinkCounts
from cobalt_teleop.bridge.wire.page_messages import REFERENCES, CameraReport, PageMessage
from cobalt_teleop.core.command import NOTHING_SHOWN_NS
from cobalt_teleop.ros.poses import pose_message
from cobalt_teleop.ros.stamps import now_ns, to_stamp

KINDS = {
    'keyboard': DeviceSample.KIND_KEYBOARD,
    'phone': DeviceSample.KIND_PHONE,
    'vr': DeviceSample.KIND_VR_CONTROLLER,
    'spacemouse': DeviceSample.KIND_SPACEMOUSE,
    'gamepad': DeviceSample.KIND_GAMEPAD,
}
"""DeviceSample.KIND_* of each device of a page."""

_OLDEST_SAMPLE_NS = 2_000_000_000


def on_host_clock(device_ns: int, offset_ms: float, received_ns: int) -> int:
    """Returns the time of a sample on the host's clock [ns]; that of its arrival if the page's clock makes no sense.

    Args:
        device_ns: On the page's clock [ns].
        offset_ms: The host's clock minus the page's [ms]; NaN if unknown.
        received_ns: Time of arrival [ns].
    """
    if math.isnan(offset_ms):
        return received_ns
    stamp_ns = device_ns + round(offset_ms * 1e6)
    return stamp_ns if received_ns - _OLDEST_SAMPLE_NS <= stamp_ns <= received_ns else received_ns


def device_of(message: PageMessage) -> str:
    """Returns the device that a sample comes from: one of PAGE_DEVICES."""
    return 'keyboard' if message.type == 'keys' else str(message['device'])


def device_sample(
    message: PageMessage,
    *,
    session_id: str,
    lease_id: str,
    operator: str,
    sequence: int,
    sees: bool,
    shown_frame_ns: int | None,
) -> DeviceSample:
    """Returns the sample of a page's device.

    Args:
        message: A `keys` or a `device` message.
        session_id: Of the page.
        lease_id: Under which it is sent.
        operator: Name shown to others.
        sequence: +1 at each sample.
        sees: The operator sees what he drives. If not, the sample says so by a stamp that is too old: the host holds,
            and what is pressed now moves nothing until it is pressed again.
        shown_frame_ns: Capture time of the newest picture on the screen [ns], if it is known.
    """
    device = device_of(message)
    device_ns = round(message['device_ms'] * 1e6)
    sample = DeviceSample(
        kind=KINDS[device],
        device_id=f'{device} of {operator}',
        session_id=session_id,
        lease_id=lease_id,
        device_stamp=to_stamp(device_ns),
        clock_uncertainty_ms=message['clock_uncertainty_ms'],
        sequence=sequence,
        tracked=True,
        engaged=message['engaged'],
        clutch_epoch=message['clutch_epoch'],
        buttons=message['buttons'],
        press_counts=message['press_counts'],
        gripper=math.nan,
        reference=REFERENCES.index(message['reference']),
        heading=message['heading'],
    )
    sample.header.stamp = to_stamp(on_host_clock(device_ns, message['clock_offset_ms'], now_ns()))
    sample.header.frame_id = device
    if message.type == 'device':
        _add_motion(sample, message)
    if not sees:
        sample.shown_frame_stamp = to_stamp(NOTHING_SHOWN_NS)
    elif shown_frame_ns is not None:
        sample.shown_frame_stamp = to_stamp(shown_frame_ns)
    return sample


def _add_motion(sample: DeviceSample, message: PageMessage) -> None:
    sample.tracked = message['tracked']
    sample.axes = message['axes']
    sample.gripper = message['gripper']
    sample.scale = message['scale']
    if message['pose'] is not None:
        sample.has_pose = True
        sample.pose = pose_message(message['pose'])


def link_stats(
    report: PageMessage | None,
    counts: LinkCounts,
    *,
    workcell_id: str,
    session_id: str,
    lease_id: str,
    operator: str,
    role: str,
    road: str,
    codec: str,
) -> LinkStats:
    """Returns how one page's link is.

    Args:
        report: The page's newest `stats` message, if one has come.
        counts: Of its samples in the last second.
        workcell_id: Whose video it watches.
        session_id: Of the page.
        lease_id: Empty if it only watches.
        operator: Name shown to others.
        role: What the door lets it do: spectator, operator or supervisor.
        road: How pictures reach the screen.
        codec: h264 or vp8, or empty without video.
    """
    sent = counts.received + counts.lost
    stats = LinkStats(
        session_id=session_id,
        lease_id=lease_id,
        operator_id=operator,
        role=role,
        road=road,
        codec=codec,
        rtt_ms=math.nan,
        jitter_ms=counts.jitter_ms if counts.received else math.nan,
        loss_up=counts.lost / sent if sent else 0.0,
        loss_down=math.nan,
        clock_offset_ms=math.nan,
        clock_uncertainty_ms=math.nan,
        sample_rate_hz=float(counts.received),
    )
    stats.header.stamp = to_stamp(now_ns())
    stats.header.frame_id = workcell_id
    if report is not None:
        stats.rtt_ms = report['rtt_ms']
        stats.loss_down = report['loss_down']
        stats.clock_offset_ms = -report['clock_offset_ms']
        stats.clock_uncertainty_ms = report['clock_uncertainty_ms']
        cameras: Sequence[CameraLink] = [_camera_link(camera) for camera in report['cameras']]
        stats.cameras = cameras
    return stats


def _camera_link(report: CameraReport) -> CameraLink:
    return CameraLink(**{name: value for name, value in vars(report).items() if name != 'shown_width'})
