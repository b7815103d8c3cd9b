import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope='module')
def private_ros_domain():
    """A domain that no other test run on this machine uses at the same time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('ROS_DOMAIN_ID', str(60 + os.getpid() % 20))
        yield
