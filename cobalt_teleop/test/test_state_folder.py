"""The folder that survives a restart."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from cobalt_teleop.bridge.door.state_folder import StateFolder, StateFolderError, default_state_dir


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_its_owner_alone_may_read_it(tmp_path):
    folder = StateFolder(str(tmp_path / 'deep' / 'state'))
    folder.write('sessions.json', b'{}')
    folder.secret('secret')
    with folder.locked('sessions.json'):
        pass
    assert mode(folder.path) == 0o700
    assert {mode(path) for path in folder.path.iterdir()} == {0o600}


def test_a_folder_that_others_may_read_is_closed_to_them(tmp_path):
    open_to_all = tmp_path / 'state'
    open_to_all.mkdir(mode=0o755)
    StateFolder(str(open_to_all))
    assert mode(open_to_all) == 0o700


def test_what_was_written_is_read_and_nothing_is_left_beside_it(tmp_path):
    folder = StateFolder(str(tmp_path))
    assert folder.read('a') is None
    folder.write('a', b'1')
    folder.write('a', b'2')
    assert StateFolder(str(tmp_path)).read('a') == b'2'
    assert [path.name for path in tmp_path.iterdir()] == ['a']


def test_a_secret_is_made_once_even_by_many_at_once(tmp_path):
    folder = StateFolder(str(tmp_path))
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: folder.secret('secret'), range(32)))
    assert len(found) == 1
    assert folder.secret('another') not in found


def test_a_broken_secret_is_named(tmp_path):
    folder = StateFolder(str(tmp_path))
    folder.write('secret', b'short')
    with pytest.raises(StateFolderError, match=r'5 bytes, not 32.*remove it'):
        folder.secret('secret')


def test_a_folder_that_cannot_be_is_refused_in_words(tmp_path):
    file = tmp_path / 'file'
    file.touch()
    with pytest.raises(StateFolderError, match="'state_dir'"):
        StateFolder(str(file))


@pytest.mark.skipif(os.geteuid() == 0, reason='root may write everywhere')
def test_a_folder_that_cannot_be_written_is_refused_in_words(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StateFolderError, match="'state_dir'"):
        StateFolder(str(tmp_path / 'state'))


def test_the_default_follows_the_xdg_rules(monkeypatch):
    monkeypatch.setenv('XDG_STATE_HOME', '/var/tmp/me')
    assert default_state_dir() == '/var/tmp/me/cobalt'
    monkeypatch.setenv('XDG_STATE_HOME', 'relative')
    monkeypatch.setenv('HOME', '/home/me')
    assert default_state_dir() == '/home/me/.local/state/cobalt'
