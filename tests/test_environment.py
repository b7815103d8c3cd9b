"""What `. tools/env.sh` gives a shell."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
VARIABLE = 'FASTDDS_DEFAULT_PROFILES_FILE'


def shell(**variables):
    """Returns the profile that a node started from such a shell has."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE} | variables
    command = ['bash', '-c', f'. {ROOT}/tools/env.sh && echo "${VARIABLE}"']
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_nodes_that_are_started_by_hand_open_nothing_beyond_this_machine():
    assert Path(shell()).samefile(ROOT / 'cobalt_bringup' / 'config' / 'fastdds_local.xml')


def test_a_profile_of_one_s_own_is_kept():
    assert shell(**{VARIABLE: '/my/machines.xml'}) == '/my/machines.xml'
