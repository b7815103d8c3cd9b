import json
import os
import subprocess
import sys

import pytest

from cobalt_teleop.ros.priority import NICE

CHILD = """
import json, os, threading
from cobalt_teleop.ros.priority import go_ahead
allowed, found = go_ahead(), []
thread = threading.Thread(target=lambda: found.append(os.getpriority(os.PRIO_PROCESS, 0)))
thread.start()
thread.join()
print(json.dumps([allowed, found[0]]))
"""


def priority_of_a_thread(*before):
    command = [*before, sys.executable, '-c', CHILD]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=20.0).stdout)


def test_threads_of_a_node_go_ahead_where_that_is_allowed():
    allowed, nice = priority_of_a_thread()
    assert nice == (NICE if allowed else os.getpriority(os.PRIO_PROCESS, 0))


@pytest.mark.skipif(os.geteuid() != 0, reason='others have nothing to lose')
def test_who_may_not_stays_as_he_is_and_says_so():
    without = ('setpriv', '--bounding-set', '-sys_nice', '--inh-caps', '-sys_nice')
    assert priority_of_a_thread(*without) == [False, os.getpriority(os.PRIO_PROCESS, 0)]
