"""A small whole bag of one episode, written as the recorder writes: rows, one camera, facts, metadata."""

import json
from array import array

import numpy as np
from foxglove_msgs.msg import CompressedVideo
from rclpy.serialization import serialize_message

from cobalt_interfaces.msg import ControlStep, EpisodeState, FrameRef, LinkStats, PartStep
from cobalt_recorder.bag_writer import BagWriter
from cobalt_teleop.core import topics
from cobalt_teleop.ros.stamps import to_stamp
from cobalt_teleop.video.h264_encoder import H264Encoder

START_NS = 1_796_036_147_000_000_000
PERIOD_NS = 50_000_000
STEPS, VIDEO, LINK = (f'/env_0/{topic.name}' for topic in (topics.CONTROL_STEP, topics.video('front'), topics.LINK))


def control_step(index, count, episode_id):
    """A row of a smooth reach along x, driven by a person."""
    share = index / (count - 1)
    x = 0.3 * (10 * share**3 - 15 * share**4 + 6 * share**5)
    stamp_ns = START_NS + index * PERIOD_NS
    terminal = index == count - 1
    part = PartStep(part='arm', authority=0 if terminal else 1, has_human=True, gripper_target=1.0)
    part.pose.position.x = part.target.position.x = part.human.pose.position.x = x
    part.human.engaged = part.human.tracked = True
    part.human.clutch_epoch, part.human.sequence, part.human.gripper = 1, index + 1, 1.0
    part.human.header.stamp = to_stamp(stamp_ns - 20_000_000)
    part.human.shown_frame_stamp = to_stamp(stamp_ns - 100_000_000)
    row = ControlStep(
        workcell_id='env_0',
        episode_id=episode_id,
        phase=EpisodeState.PHASE_RUNNING,
        step=100 + index,
        sim_time=index * 0.05,
        parts=[part],
        frames=[FrameRef(camera='front', stamp=to_stamp(stamp_ns), sequence=index)],
        success=index == count - 2,
        terminal=terminal,
        applied_stamp=to_stamp(stamp_ns + 3_000_000),
    )
    row.header.stamp = to_stamp(stamp_ns)
    return row


def write_bag(
    folder,
    *,
    count=61,
    outcome='SUCCESS',
    skip_rows=(),
    skip_frames=(),
    period_ns=PERIOD_NS,
    extra=(),
    expected=None,
    split_bytes=0,
):
    """Writes the bag; returns its first file.

    Args:
        folder: Whose name is the episode's id.
        count: Rows.
        outcome: Of the episode.
        skip_rows: Rows that are left out.
        skip_frames: Frames that are left out.
        period_ns: Between the log times of rows.
        extra: More messages at the end: topic, type, bytes, log time.
        expected: How many rows the recorder counted.
        split_bytes: Size of a file from which on the bag goes on in another one.
    """
    camera = {'name': 'front', 'rate_hz': 20.0}
    writer = BagWriter(folder, {}, split_bytes=split_bytes)
    writer.add_facts(
        'cobalt.workcell',
        {'control_rate_hz': '20', 'cameras': json.dumps([camera]), 'capabilities': '["success_predicate"]'},
    )
    writer.add_facts('cobalt.episode', {'episode_id': folder.name, 'workcell_id': 'env_0', 'task': 'lift'})
    writer.add_topic(STEPS, topics.CONTROL_STEP.type)
    writer.add_topic(VIDEO, topics.video('front').type)
    writer.add_topic(LINK, topics.LINK.type)
    encoder = H264Encoder(64, 48, 20.0, 500)

    def write(topic, message, log_ns):
        data = message if isinstance(message, bytes) else bytes(serialize_message(message))
        writer.write(topic, data, received_ns=log_ns, published_ns=log_ns)

    for index in range(count):
        log_ns = START_NS + index * period_ns
        picture = np.full((48, 64, 3), index * 3 % 256, dtype=np.uint8)
        picture[:, : index % 64] = 200
        frame = CompressedVideo(format='h264', data=array('B', encoder.encode(picture, index == 0).data))
        frame.timestamp = to_stamp(START_NS + index * PERIOD_NS)
        if index not in skip_frames:
            write(VIDEO, frame, log_ns)
        if index not in skip_rows:
            write(STEPS, control_step(index, count, folder.name), log_ns + 1_000_000)
    write(LINK, LinkStats(lease_id='one', rtt_ms=30.0, jitter_ms=2.0), START_NS + count * period_ns)
    for topic, ros_type, data, log_ns in extra:
        writer.add_topic(topic, ros_type)
        write(topic, data, log_ns)
    rows = count - len(skip_rows)
    counts = {STEPS: {'expected': expected or rows, 'received': rows, 'dropped': 0}}
    end = {'outcome': outcome, 'first_step': '100', 'last_step': str(99 + count), 'counts': json.dumps(counts)}
    writer.close('cobalt.end', end, {})
    return folder / f'{folder.name}_0.mcap'
