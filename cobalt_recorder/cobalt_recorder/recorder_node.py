"""recorder_node: one bag for each episode of each workcell, with a verdict from the closed file."""

import sys
import time
from pathlib import Path
from typing import Any

from rclpy.node import Node

from cobalt_recorder.disk_space import shortage
from cobalt_recorder.episode_recording import RecorderOptions
from cobalt_recorder.judge_desk import JudgeDesk
from cobalt_recorder.memory_arenas import limit_arenas
from cobalt_recorder.plain_text import make_texts_plain
from cobalt_recorder.recorder_parameters import RecorderParameters
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.unjudged_bags import unjudged_bags
from cobalt_recorder.verdict_file import EpisodeVerdict
from cobalt_recorder.workcell_recorder import WorkcellRecorder
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.workcells import WorkcellWatch

PROGRAM = 'recorder_node'
SUMMARY = 'Records each episode of each workcell into a rosbag2 bag, and judges it.'

_SWEEP_S = 0.1
_CLOSE_S = 2.0
_END_S = 3.5
"""Within this time all is over, whoever starts the recorder: `cobalt up` kills what still runs after 4 s [s]."""


def usable_dataset(path: str) -> Path:
    """Returns the folder of a data set, which is made if it is absent.

    Raises:
        CobaltError: It is not named, or cannot be made or written.
    """
    if not path.strip():
        raise CobaltError("the parameter 'dataset' is empty. Set it to the folder that all bags go to.")
    folder = Path(path).expanduser().absolute()
    probe = folder / '.cobalt_can_write'
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CobaltError(
            f'the dataset folder {folder} cannot be written: {error.strerror}. '
            "Set the parameter 'dataset' to one that can."
        ) from error
    return folder


class RecorderNode(Node):
    """Records the workcells that it finds.

    Args:
        stop: Unused; the recorder never ends by itself.
    """

    def __init__(self, stop: Stop) -> None:
        super().__init__(PROGRAM)
        values = read_parameters(self, RecorderParameters)
        rules = Path(values.rules).expanduser().absolute() if values.rules else shipped_rules()
        self._desk = JudgeDesk(rules)
        self._options = RecorderOptions(
            dataset=usable_dataset(values.dataset),
            min_free_bytes=values.min_free_mb * 1_000_000,
            queue_bytes=values.queue_mb * 1_000_000,
            split_bytes=values.split_mb * 1_000_000,
            pre_roll_s=values.pre_roll_s,
            rules=load_rules(rules),
        )
        problem = shortage(self._options.dataset, self._options.min_free_bytes)
        if problem:
            raise CobaltError(problem)
        self._recorders: dict[str, WorkcellRecorder] = {}
        self._timer = self.create_timer(_SWEEP_S, self._sweep)
        self._timer.cancel()
        self._untold: dict[str, list[EpisodeVerdict]] = {}
        self._judge_what_was_left()
        self._watch = WorkcellWatch(self, self._on_info, values.workcells)
        self.get_logger().info(f'bags go to {self._options.dataset}')

    def close(self) -> None:
        """Closes every bag, and judges what can be judged in a moment."""
        for recorder in self._recorders.values():
            recorder.stop()
        now_s = time.monotonic()
        until, end_s = now_s + _CLOSE_S, now_s + _END_S
        for recorder in self._recorders.values():
            recorder.wait_stopped(max(0.0, until - time.monotonic()))
        self._tell(self._desk.finish(max(0.0, end_s - time.monotonic())))

    def _judge_what_was_left(self) -> None:
        for episode in unjudged_bags(self._options.dataset):
            self.get_logger().warning(f'{episode.folder} was left without a verdict: it is judged now')
            self._desk.submit_old(episode)
            self._timer.reset()

    def _on_info(self, info: Any) -> None:
        make_texts_plain(info)
        recorder = self._recorders.get(info.workcell_id)
        if recorder is not None:
            recorder.info = info
            return
        self.get_logger().info(f'found {info.workcell_id}')
        self._recorders[info.workcell_id] = WorkcellRecorder(
            self, info, self._options, self._desk.submit, self._timer.reset
        )
        for verdict in self._untold.pop(info.workcell_id, []):
            self._recorders[info.workcell_id].report(verdict)

    def _sweep(self) -> None:
        for recorder in self._recorders.values():
            recorder.step()
        self._tell(self._desk.poll())
        if not self._desk.busy and not any(recorder.busy for recorder in self._recorders.values()):
            self._timer.cancel()

    def _tell(self, verdicts: list[EpisodeVerdict]) -> None:
        for verdict in verdicts:
            reasons = f': {"; ".join(verdict.judged.reasons)}' if verdict.judged.reasons else ''
            self.get_logger().info(f'{verdict.workcell_id}: {verdict.judged.verdict}{reasons} ({verdict.bag_uri})')
            recorder = self._recorders.get(verdict.workcell_id)
            if recorder is not None:
                recorder.report(verdict)
            else:
                self._untold.setdefault(verdict.workcell_id, []).append(verdict)


def main() -> None:
    """Entry point of the executable."""
    limit_arenas(2)
    sys.exit(run_node(PROGRAM, SUMMARY, RecorderParameters, RecorderNode))


if __name__ == '__main__':
    main()
