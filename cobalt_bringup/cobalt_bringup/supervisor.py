"""Starts the processes of a launch, shows what they say, names what dies, starts it again, and ends all in time."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from cobalt_bringup.launch_file import Process, Respawn
from cobalt_teleop.core.child_process import end_with_parent

TERMINATE_AFTER_S = 2.5
KILL_AFTER_S = 4.0
REFUSED = 2
"""Exit code of a node that refused to start: its sentence is already on the screen."""

_COLOURS = (36, 32, 33, 35, 34, 96, 92, 93, 95, 94)


def signal_name(number: int) -> str:
    """Returns such as 'SIGKILL'."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f'signal {number}'


@dataclass
class _Child:
    process: Process
    label: str
    running: subprocess.Popen[bytes]
    colour: int
    rest: bytes = b''
    reported: bool = False
    retries: int = 0
    again_at: float | None = None
    """When it is started again [s], if it is."""

    @property
    def has_ended(self) -> bool:
        """It has ended for good."""
        return self.reported and self.again_at is None


class Supervisor:
    """Runs processes until they end or a signal comes.

    Args:
        processes: What to start.
        output: Where their lines go.
        colour: Names in colours.
    """

    def __init__(
        self, processes: Sequence[Process], *, output: IO[str] | None = None, colour: bool | None = None
    ) -> None:
        self._processes = processes
        self._output = sys.stdout if output is None else output
        self._colour = self._output.isatty() if colour is None else colour
        self._children: list[_Child] = []
        self._selector = selectors.DefaultSelector()
        self._stopping_since: float | None = None
        self._escalation: list[tuple[float, int]] = []
        self._exit_code = 0
        self._by_signal = False
        self._refused = ''

    def run(self) -> int:
        """Starts everything and waits until all have ended.

        Returns:
            0 if all ended well or a signal ended them, 2 if one refused to start, 1 if one failed.
        """
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        old_wakeup = signal.set_wakeup_fd(wake_write)
        old_handlers = {
            number: signal.signal(number, self._on_signal)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
        }
        self._selector.register(wake_read, selectors.EVENT_READ, None)
        try:
            try:
                self._start_all()
                self._watch(wake_read)
                if self._by_signal:
                    self._say('everything has ended')
            finally:
                self._kill_rest()
                if self._refused:
                    # The last line, so that nothing stands between it and the person.
                    self._say(f'{self._refused} refused to start, for the reason in its line above')
        finally:
            signal.set_wakeup_fd(old_wakeup)
            for number, handler in old_handlers.items():
                signal.signal(number, handler)
            self._selector.close()
            os.close(wake_read)
            os.close(wake_write)
        return 0 if self._by_signal and self._exit_code != REFUSED else self._exit_code

    def _on_signal(self, number: int, _frame: object) -> None:
        if number != signal.SIGCHLD and self._stopping_since is None:
            self._by_signal = True
            self._stop()

    def _start_all(self) -> None:
        labels = _labels(self._processes)
        for index, (process, label) in enumerate(zip(self._processes, labels, strict=True)):
            if self._stopping_since is not None:
                return
            running = self._start(process, label)
            if running is not None:
                child = _Child(process, label, running, _COLOURS[index % len(_COLOURS)])
                self._children.append(child)
                self._listen(child)

    def _start(self, process: Process, label: str) -> subprocess.Popen[bytes] | None:
        environment = {**process.environment, 'PYTHONUNBUFFERED': '1'}
        if self._colour:
            environment.setdefault('RCUTILS_COLORIZED_OUTPUT', '1')
        if self._output.isatty():
            environment['COBALT_TERMINAL'] = '1'
        try:
            return subprocess.Popen(
                process.command,
                env=environment,
                cwd=process.directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_before_start(process, os.getpid()),
            )
        except OSError as error:
            self._say(f'{label} could not be started: {error.strerror}: {process.command[0]}')
            self._exit_code = REFUSED
            self._stop()
            return None

    def _listen(self, child: _Child) -> None:
        stdout = child.running.stdout
        assert stdout is not None
        os.set_blocking(stdout.fileno(), False)
        self._selector.register(stdout, selectors.EVENT_READ, child)

    def _watch(self, wake_read: int) -> None:
        while any(not child.has_ended for child in self._children):
            for key, _ in self._selector.select(self._time_to_next()):
                if key.data is None:
                    os.read(wake_read, 4096)
                else:
                    self._read(key.data)
            self._reap()
            self._start_again()
            self._escalate()

    def _time_to_next(self) -> float:
        due = [child.again_at for child in self._children if child.again_at is not None]
        due += [at for at, _ in self._escalation[:1]]
        return max(0.0, min([0.5, *(at - time.monotonic() for at in due)]))

    def _read(self, child: _Child) -> None:
        assert child.running.stdout is not None
        try:
            data = os.read(child.running.stdout.fileno(), 65536)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(child.running.stdout)
            child.running.stdout.close()
        *lines, child.rest = (child.rest + data).split(b'\n')
        for line in lines:
            self._show(child, line)

    def _drain(self, child: _Child) -> None:
        stdout = child.running.stdout
        while stdout is not None and not stdout.closed:
            before = child.rest
            try:
                data = os.read(stdout.fileno(), 65536)
            except BlockingIOError:
                break
            *lines, child.rest = (before + data).split(b'\n')
            for line in lines:
                self._show(child, line)
            if not data:
                break
        if child.rest:
            self._show(child, child.rest)
            child.rest = b''
        if stdout is not None and not stdout.closed:
            self._selector.unregister(stdout)
            stdout.close()

    def _reap(self) -> None:
        for child in self._children:
            if child.reported or child.running.poll() is None:
                continue
            child.reported = True
            self._drain(child)
            self._on_death(child, child.running.returncode)

    def _on_death(self, child: _Child, code: int) -> None:
        if self._stopping_since is not None:
            if code > 0 and not self._exit_code:
                self._exit_code = 1
                self._say(f'{child.label} ended with exit code {code}')
            return
        if code < 0:
            self._say(f'{child.label} died (killed by {signal_name(-code)})')
        elif code == REFUSED:
            self._refused = child.label
        elif code:
            self._say(f'{child.label} died (exit code {code})')
        else:
            self._say(f'{child.label} ended')
        if code:
            self._exit_code = REFUSED if code == REFUSED else 1
        if code == REFUSED or child.process.ends_all:
            self._stop()
        elif (respawn := _respawn_left(child)) is not None:
            child.again_at = time.monotonic() + respawn.delay_s
            self._say(f'{child.label} starts again; Ctrl-C ends all')
        elif any(not other.has_ended for other in self._children):
            self._say('the others go on; Ctrl-C ends them')

    def _start_again(self) -> None:
        for child in self._children:
            if child.again_at is None or time.monotonic() < child.again_at:
                continue
            child.again_at = None
            child.retries += 1
            running = self._start(child.process, child.label)
            if running is not None:
                child.running, child.reported = running, False
                self._listen(child)

    def _stop(self) -> None:
        if self._stopping_since is not None:
            return
        self._stopping_since = now = time.monotonic()
        for child in self._children:
            child.again_at = None
            self._signal(child, signal.SIGINT, group=False)
        self._escalation = [(now + TERMINATE_AFTER_S, signal.SIGTERM), (now + KILL_AFTER_S, signal.SIGKILL)]

    def _escalate(self) -> None:
        while self._escalation and time.monotonic() >= self._escalation[0][0]:
            _, number = self._escalation.pop(0)
            for child in self._children:
                if not child.reported:
                    if number == signal.SIGKILL:
                        self._say(f'{child.label} did not end by itself and was killed')
                    self._signal(child, number, group=number == signal.SIGKILL)

    def _signal(self, child: _Child, number: int, *, group: bool) -> None:
        if child.running.returncode is not None:
            return
        try:
            (os.killpg if group else os.kill)(child.running.pid, number)
        except ProcessLookupError:
            pass

    def _kill_rest(self) -> None:
        """What a child started itself ends with it; nothing outlives this process."""
        for child in self._children:
            try:
                os.killpg(child.running.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            child.running.wait()

    def _show(self, child: _Child, line: bytes) -> None:
        text = line.decode(errors='replace').rstrip('\r')
        if '://' in text and self._colour:
            # The address of the page is what a person looks for.
            text = f'\x1b[1m{text}\x1b[0m'
        self._line(f'{self._painted(f"[{child.label}]", child.colour)} {text}')

    def _say(self, text: str) -> None:
        self._line(f'{self._painted("[cobalt up]", 1)} {text}')

    def _painted(self, text: str, colour: int) -> str:
        return f'\x1b[{colour}m{text}\x1b[0m' if self._colour else text

    def _line(self, text: str) -> None:
        try:
            print(text, file=self._output, flush=True)
        except OSError:
            # The terminal is gone; the processes still have to be ended.
            pass


def _respawn_left(child: _Child) -> Respawn | None:
    """Returns how a process that ended is started again; None if it is not, or not any more."""
    respawn = child.process.respawn
    if respawn is None or 0 <= respawn.max_retries <= child.retries:
        return None
    return respawn


def _labels(processes: Sequence[Process]) -> list[str]:
    names = [process.name for process in processes]
    return [
        name if names.count(name) == 1 else f'{name}-{names[: index + 1].count(name)}'
        for index, name in enumerate(names)
    ]


def _before_start(process: Process, parent: int) -> Callable[[], None]:
    """Returns what a child does before its program starts."""

    def arm() -> None:
        end_with_parent(parent)
        if process.is_node:
            # Ctrl-C while Python still imports would end in a traceback. The node's own handler takes over later; a
            # signal that was missed is followed by SIGTERM.
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return arm
