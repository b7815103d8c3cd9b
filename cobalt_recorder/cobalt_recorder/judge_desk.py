"""Has closed bags judged, few at a time, each by a process of its own."""

import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from cobalt_recorder.verdict_file import EpisodeVerdict, read_verdict

_AT_ONCE = 2
_LIMIT_S = 300.0


@dataclass(frozen=True)
class Judged:
    """A bag whose judging has ended.

    Attributes:
        folder: Of the bag.
        verdict: None if it could not be judged.
        fault: Why not, in words.
    """

    folder: Path
    verdict: EpisodeVerdict | None
    fault: str


@dataclass
class _Case:
    folder: Path
    process: 'subprocess.Popen[str]'
    started_s: float = field(default_factory=time.monotonic)


class JudgeDesk:
    """Judges bags one after the other. Its methods belong to one thread.

    Args:
        rules: The file of the quality rules.
    """

    def __init__(self, rules: Path) -> None:
        self._rules = rules
        self._waiting: deque[Path] = deque()
        self._cases: list[_Case] = []

    @property
    def busy(self) -> bool:
        """Something is being judged, or waits for it."""
        return bool(self._waiting or self._cases)

    def submit(self, folder: Path) -> None:
        """Has a bag judged, again if it was judged before."""
        for case in [case for case in self._cases if case.folder == folder]:
            self._stop(case)
        if folder not in self._waiting:
            self._waiting.append(folder)

    def poll(self) -> list[Judged]:
        """Starts what can be started, and returns what has ended since the last call."""
        done = []
        for case in list(self._cases):
            if case.process.poll() is not None:
                done.append(self._result(case))
            elif time.monotonic() - case.started_s > _LIMIT_S:
                self._stop(case)
                done.append(Judged(case.folder, None, f'it was not judged within {_LIMIT_S:.0f} s'))
        while self._waiting and len(self._cases) < _AT_ONCE:
            folder = self._waiting.popleft()
            command = [sys.executable, '-m', 'cobalt_recorder.judge', str(folder), str(self._rules)]
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
            )
            self._cases.append(_Case(folder, process))
        return done

    def finish(self, timeout_s: float) -> list[Judged]:
        """Returns what can still be judged in this time, and gives the rest up by name."""
        until = time.monotonic() + timeout_s
        done = self.poll()
        while self.busy and time.monotonic() < until:
            time.sleep(0.02)
            done += self.poll()
        late = [*self._waiting, *(case.folder for case in self._cases)]
        self._waiting.clear()
        for case in list(self._cases):
            self._stop(case)
        return done + [Judged(folder, None, '`cobalt bag info` will judge it') for folder in late]

    def _result(self, case: _Case) -> Judged:
        self._cases.remove(case)
        _, errors = case.process.communicate()
        if case.process.returncode == 0:
            verdict = read_verdict(case.folder)
            return Judged(case.folder, verdict, '' if verdict else 'its verdict.json cannot be read')
        last = errors.strip().splitlines()[-1:] or [f'the process ended with {case.process.returncode}']
        return Judged(case.folder, None, last[0])

    def _stop(self, case: _Case) -> None:
        self._cases.remove(case)
        case.process.kill()
        case.process.communicate()
