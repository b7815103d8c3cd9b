"""Which workcells tick in this ROS domain, seen by a process of its own."""

import os
import subprocess
import sys
import time

from cobalt_teleop.core.topics import CONTROL_STEP

_DISCOVERY_S = 1.0
_LISTEN_S = 1.0


def domain() -> int:
    """Returns the ROS domain of this shell."""
    return int(os.environ.get('ROS_DOMAIN_ID') or 0)


def live_workcells(*, limit_s: float) -> list[str]:
    """Returns the names of the workcells whose host ticks.

    Args:
        limit_s: How long it is waited for an answer [s].

    Raises:
        OSError: ROS 2 gave none.
        subprocess.TimeoutExpired: Nor did it within the limit.
    """
    answer = subprocess.run(
        [sys.executable, '-m', 'cobalt_bringup.live_workcells'],
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    if answer.returncode:
        raise OSError(answer.stderr.strip()[-200:])
    return answer.stdout.split()


def _main() -> None:
    import rclpy

    from cobalt_teleop.ros.endpoints import TakenSubscription

    rclpy.init()
    node = rclpy.create_node(f'cobalt_doctor_{os.getpid()}')
    time.sleep(_DISCOVERY_S)
    suffix = f'/{CONTROL_STEP.name}'
    names = [name.removesuffix(suffix)[1:] for name, _ in node.get_topic_names_and_types() if name.endswith(suffix)]
    heard = {name: TakenSubscription(node, CONTROL_STEP, name) for name in names}
    if heard:
        # A host that was killed stays in the graph for a while, and is silent.
        time.sleep(_LISTEN_S)
    print(' '.join(sorted(name for name, subscription in heard.items() if subscription.take() is not None)))
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    _main()
