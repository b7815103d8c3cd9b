"""Has an episode of `sim` recorded, and prints what the recorder says of it; a process of its own, as a machine has."""

import json
import sys
from pathlib import Path

import rclpy

sys.path.insert(0, str(Path(__file__).parents[1] / 'cobalt_teleop' / 'test'))

from ros_operator import Operator, until

from cobalt_interfaces.msg import EpisodeState, RecordingState
from cobalt_teleop.core import topics

START_S = 40.0
STEPS = 30


def main() -> None:
    """Entry point."""
    rclpy.init()
    operator = Operator('operator', host_id='sim')
    for topic in (topics.CONTROL_STEP, topics.EPISODE, topics.RECORDING):
        operator.listen(topic)
    until(lambda: operator.newest(topics.CONTROL_STEP), 'the simulator', START_S)
    until(lambda: operator.newest(topics.RECORDING), 'the recorder', START_S)
    lease = operator.call('AcquireControl', session_id='s', operator_id='Ada')
    started = operator.call('StartEpisode', lease_id=lease.lease_id, require_recording=True)
    assert started.ok, started.reason
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING, 'the episode', START_S)
    first = operator.newest(topics.CONTROL_STEP).step
    until(lambda: operator.newest(topics.CONTROL_STEP).step > first + STEPS, 'some steps', START_S)
    ended = operator.call('EndEpisode', lease_id=lease.lease_id, outcome=EpisodeState.OUTCOME_SUCCESS)
    assert ended.ok, ended.reason
    until(lambda: operator.newest(topics.RECORDING).state == RecordingState.STATE_SAVED, 'the bag', START_S)
    saved = operator.newest(topics.RECORDING)
    print(json.dumps({'uri': saved.uri, 'dropped': saved.dropped}))
    operator.close()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
