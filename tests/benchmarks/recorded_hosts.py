"""Workcells for bench_recorder.py: publishes rows, commands and H.264 video of as many as it is told, in one process.

Prints `running` once a recorder records all of them; ends the episodes when a line comes, and prints what was dropped.
"""

import json
import sys
from pathlib import Path

import rclpy
from rclpy.context import Context

sys.path.insert(0, str(Path(__file__).parents[2] / 'cobalt_recorder' / 'test'))

from host_stand_in import HostStandIn

from cobalt_interfaces.msg import EpisodeState, RecordingState

WAIT_S = 60.0


def main() -> None:
    """Entry point: argument 1 is the number of workcells; argument 2 is `watched` if somebody hears their quality."""
    context = Context()
    rclpy.init(context=context)
    hosts = [
        HostStandIn(context, f'cell_{index}', hears_quality='watched' in sys.argv) for index in range(int(sys.argv[1]))
    ]
    for host in hosts:
        host.start()
    for host in hosts:
        host.wait_state(RecordingState.STATE_READY, WAIT_S)
        host.run()
    print('running', flush=True)
    sys.stdin.readline()
    for host in hosts:
        host.end(EpisodeState.OUTCOME_SUCCESS)
    saved = [host.wait_state(RecordingState.STATE_SAVED, WAIT_S) for host in hosts]
    print(
        json.dumps({'dropped': sum(one.dropped for one in saved), 'bytes': sum(one.bytes for one in saved)}), flush=True
    )
    for host in hosts:
        host.close()
    rclpy.shutdown(context=context)


if __name__ == '__main__':
    main()
