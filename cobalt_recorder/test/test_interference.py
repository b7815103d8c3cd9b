"""Bags that somebody else removes, cuts or changes while they are recorded."""

import os
import shutil
import time
from pathlib import Path

import pytest

from cobalt_interfaces.msg import EpisodeState, QualityReport, RecordingState


def remove_folder(folder, file):
    shutil.rmtree(folder)


def remove_dataset(folder, file):
    shutil.rmtree(folder.parent.parent)


def move_folder(folder, file):
    folder.rename(folder.with_name('elsewhere'))


def cut_file(folder, file):
    os.truncate(file, 100)


@pytest.mark.parametrize(
    ('interfere', 'says', 'remains'),
    [
        (remove_folder, 'was removed or moved while it was being written', 'nothing of it is in'),
        (remove_dataset, 'was removed or moved while it was being written', 'nothing of it is in'),
        (move_folder, 'was removed or moved while it was being written', 'nothing of it is in'),
        (cut_file, 'was cut short while it was being written', 'shows what of it can still be read'),
    ],
)
def test_it_is_noticed_at_once_and_the_next_episode_is_recorded(
    tmp_path, start_recorder, start_host, interfere, says, remains
):
    recorder = start_recorder(tmp_path / 'dataset')
    host = start_host()
    host.start()
    folder = Path(host.wait_state(RecordingState.STATE_READY).uri)
    host.run()
    time.sleep(1.0)
    interfere(folder, folder / f'{folder.name}_0.mcap')
    failed = host.wait_state(RecordingState.STATE_FAILED, timeout_s=2.5)
    assert says in failed.reason
    assert remains in failed.reason
    host.recording_states.clear()
    host.end(EpisodeState.OUTCOME_SUCCESS)
    # The host ends the episode by the same handshake as any other, and is answered at once.
    again = host.wait_state(RecordingState.STATE_FAILED, timeout_s=1.0)
    assert (again.reason, again.uri) == (failed.reason, failed.uri)
    host.finished()
    report = host.wait_report()
    assert (report.stage, report.verdict) == (QualityReport.STAGE_FINAL, QualityReport.VERDICT_REJECT)
    assert (report.workcell_id, report.episode_id, report.task) == ('cell_0', folder.name, 'lift')
    assert any(says in reason for reason in report.reasons)

    host.record(0.6)
    assert host.wait_report(2).episode_id == host.episode.episode_id
    assert recorder.end() == 0
    assert 'Traceback' not in recorder.output


def test_bytes_that_changed_behind_the_recorder_fail_and_a_label_does_not_mend_them(
    tmp_path, start_recorder, start_host
):
    recorder = start_recorder(tmp_path)
    host = start_host()
    host.start()
    folder = Path(host.wait_state(RecordingState.STATE_READY).uri)
    host.run()
    time.sleep(2.0)
    with (folder / f'{folder.name}_0.mcap').open('r+b') as file:
        file.seek(1000)
        file.write(b'\xff' * 8)
    host.end(EpisodeState.OUTCOME_SUCCESS)
    failed = host.wait_state(RecordingState.STATE_FAILED)
    assert 'does not hold what was written to it' in failed.reason
    host.finished()
    assert host.wait_report().verdict == QualityReport.VERDICT_REJECT
    host.label(EpisodeState.OUTCOME_FAILURE)
    host.wait_report(2)
    host.label(EpisodeState.OUTCOME_SUCCESS)
    report = host.wait_report(3)
    assert report.verdict == QualityReport.VERDICT_REJECT
    assert any('does not hold what was written to it' in reason for reason in report.reasons)
    assert recorder.end() == 0
    assert 'Traceback' not in recorder.output
