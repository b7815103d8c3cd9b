"""Has closed bags judged, few at a time, each by a process of its own. Every bag gets a verdict."""

import contextlib
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path

from cobalt_recorder.plain_text import plain_text
from cobalt_recorder.verdict_file import EpisodeVerdict, RecordedEpisode, read_verdict, verdict_without_bag

_AT_ONCE = 2
_LIMIT_S = 300.0


@dataclass
class _Case:
    episode: RecordedEpisode
    process: 'subprocess.Popen[str]'
    started_s: float = field(default_factory=time.monotonic)


class JudgeDesk:
    """Judges bags one after the other. Its methods belong to one thread.

    Args:
        rules: The file of the quality rules.
    """

    def __init__(self, rules: Path) -> None:
        self._rules = rules
        self._waiting: deque[RecordedEpisode] = deque()
        self._old: deque[RecordedEpisode] = deque()
        self._cases: list[_Case] = []

    @property
    def busy(self) -> bool:
        """Something is being judged, or waits for it."""
        return bool(self._waiting or self._old or self._cases)

    def submit(self, episode: RecordedEpisode) -> None:
        """Has a bag judged, again if it was judged before."""
        for case in [case for case in self._cases if case.episode.folder == episode.folder]:
            self._stop(case)
        for waiting in [waiting for waiting in self._waiting if waiting.folder == episode.folder]:
            self._waiting.remove(waiting)
        self._waiting.append(episode)

    def submit_old(self, episode: RecordedEpisode) -> None:
        """Has a bag judged once nothing newer waits."""
        self._old.append(episode)

    def poll(self) -> list[EpisodeVerdict]:
        """Starts what can be started, and returns the verdicts since the last call."""
        done = []
        for case in list(self._cases):
            if case.process.poll() is not None:
                done.append(self._result(case))
            elif time.monotonic() - case.started_s > _LIMIT_S:
                self._stop(case)
                done.append(_rejected(case.episode, f'it was not judged within {_LIMIT_S:.0f} s'))
        while (self._waiting or self._old) and len(self._cases) < _AT_ONCE:
            episode = (self._waiting or self._old).popleft()
            command = [
                sys.executable, '-m', 'cobalt_recorder.judge', str(episode.folder), str(self._rules), episode.fault
            ]  # fmt: skip
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
            )
            self._cases.append(_Case(episode, process))
        return done

    def finish(self, timeout_s: float) -> list[EpisodeVerdict]:
        """Returns what can still be judged in this time; the verdict on the rest is UNKNOWN.

        Old bags that nobody has begun with wait for the next start.
        """
        self._old.clear()
        until = time.monotonic() + timeout_s
        done = self.poll()
        while self.busy and time.monotonic() < until:
            time.sleep(0.02)
            done += self.poll()
        late = [*self._waiting, *(case.episode for case in self._cases)]
        self._waiting.clear()
        for case in list(self._cases):
            self._stop(case)
        why = 'the recorder ended before it was judged; `cobalt bag info` judges it'
        return done + [verdict_without_bag(episode, 'UNKNOWN', why) for episode in late]

    def _result(self, case: _Case) -> EpisodeVerdict:
        self._cases.remove(case)
        _, errors = case.process.communicate()
        if case.process.returncode == 0:
            verdict = read_verdict(case.episode.folder)
            if verdict is None:
                return _rejected(case.episode, 'its verdict.json cannot be read')
            # A damaged file may have lost whose it is.
            known = case.episode
            return replace(verdict, workcell_id=known.workcell_id, episode_id=known.episode_id, task=known.task)
        last = errors.strip().splitlines()[-1:] or [f'the judging process ended with {case.process.returncode}']
        return _rejected(case.episode, plain_text(last[0]))

    def _stop(self, case: _Case) -> None:
        self._cases.remove(case)
        case.process.kill()
        case.process.communicate()


def _rejected(episode: RecordedEpisode, reason: str) -> EpisodeVerdict:
    failure = f'the recording failed: {episode.fault}' if episode.fault else ''
    verdict = verdict_without_bag(episode, 'REJECT', failure, f'the bag cannot be judged: {reason}')
    with contextlib.suppress(OSError):
        # There may be no folder left to write to.
        verdict.write(episode.folder)
    return verdict
