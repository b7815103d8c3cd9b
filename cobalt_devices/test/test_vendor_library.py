"""Libraries of vendors: pinned once for users, once for tests, and named when they are absent."""

import re
from pathlib import Path

import pytest

from cobalt_devices.drivers import franka_process, so101_process, ur_rtde_process, xarm_process
from cobalt_devices.drivers.vendor_library import load, require
from cobalt_teleop.core.errors import CobaltError

ROOT = Path(__file__).parents[2]
PROCESSES = (franka_process, so101_process, ur_rtde_process, xarm_process)


@pytest.mark.parametrize('process', PROCESSES, ids=lambda process: process.NAME)
def test_the_line_that_is_named_is_what_the_tests_ran_with(process):
    pinned = [line.partition(';')[0] for line in (ROOT / 'requirements-test.txt').read_text().splitlines()]
    extras = (ROOT / 'cobalt_devices' / 'setup.py').read_text()
    assert process.REQUIREMENT in pinned
    assert re.search(rf"'{process.NAME}': \['{re.escape(process.REQUIREMENT)}'\]", extras)


def test_an_absent_library_is_named_with_the_line_that_installs_it():
    with pytest.raises(CobaltError, match=r"my_arm needs .* pip install 'no-such-library==1\.0'"):
        require('my_arm', 'no_such_library', 'no-such-library==1.0')


def test_a_library_that_does_not_load_is_told(tmp_path, monkeypatch):
    (tmp_path / 'broken_library.py').write_text('import no_such_thing\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(CobaltError, match='does not load: No module named'):
        load('my_arm', 'broken_library', 'broken-library==1.0')
