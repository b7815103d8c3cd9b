import errno
import os

from cobalt_recorder import reserved_file
from cobalt_recorder.reserved_file import ReservedFile, being_written


def test_a_file_is_being_written_until_it_is_closed(tmp_path):
    path = tmp_path / 'file'
    file = ReservedFile(path, reserve_bytes=1000)
    assert being_written(path)
    file.close()
    assert not being_written(path)


def test_where_nothing_can_be_locked_a_fresh_file_counts_as_being_written(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, 'no locks available')

    monkeypatch.setattr(reserved_file.fcntl, 'flock', refuse)
    path = tmp_path / 'file'
    with ReservedFile(path, reserve_bytes=1000) as file:
        file.write(b'x')
    assert being_written(path)
    os.utime(path, (1.0, 1.0))
    assert not being_written(path)
