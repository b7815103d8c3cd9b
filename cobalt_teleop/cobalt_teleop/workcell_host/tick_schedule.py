"""When each workcell ticks: staggered over the period, paced on the monotonic clock, missed ticks counted."""

import heapq
import threading
import time
from collections.abc import Callable, Sequence


class TickSchedule:
    """Runs each workcell's tick once a period, from a pool of threads, staggered so that nobody waits for a batch.

    A tick that cannot begin within its period is missed: it is counted and skipped, there is no catch-up. Ticks of one
    workcell never overlap.

    Args:
        ticks: One callable a workcell; its argument is the number of ticks missed so far. It must not raise.
        period_s: [s].
        threads: Size of the pool.
        on_start: Called in one of the threads before the first tick; it must not raise.
        on_thread_end: Called in each thread before it ends.
    """

    def __init__(
        self,
        ticks: Sequence[Callable[[int], None]],
        *,
        period_s: float,
        threads: int,
        on_start: Callable[[], None] = lambda: None,
        on_thread_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._ticks = ticks
        self._period_s = period_s
        self._on_start = on_start
        self._on_thread_end = on_thread_end
        self._missed = [0] * len(ticks)
        self._due: list[tuple[float, int]] = []
        self._ready = threading.Condition()
        self._stopped = False
        self._threads = [
            threading.Thread(target=self._work, args=(index == 0,), name=f'tick_{index}', daemon=True)
            for index in range(threads)
        ]

    def start(self) -> None:
        """Begins to tick."""
        for thread in self._threads:
            thread.start()

    def stop(self, timeout_s: float = 2.0) -> None:
        """Ends after the running ticks."""
        with self._ready:
            self._stopped = True
            self._ready.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout_s)

    def _begin(self) -> None:
        start = time.monotonic() + self._period_s
        step = self._period_s / max(1, len(self._ticks))
        with self._ready:
            self._due = [(start + index * step, index) for index in range(len(self._ticks))]
            heapq.heapify(self._due)
            self._ready.notify_all()

    def _work(self, begins: bool) -> None:
        try:
            if begins:
                self._on_start()
                self._begin()
            while (next_due := self._take()) is not None:
                due_s, index = next_due
                self._ticks[index](self._missed[index])
                self._return(due_s, index)
        finally:
            self._on_thread_end()

    def _take(self) -> tuple[float, int] | None:
        with self._ready:
            while not self._stopped:
                if not self._due:
                    self._ready.wait()
                    continue
                wait_s = self._due[0][0] - time.monotonic()
                if wait_s <= 0:
                    taken = heapq.heappop(self._due)
                    self._ready.notify()
                    return taken
                self._ready.wait(wait_s)
        return None

    def _return(self, due_s: float, index: int) -> None:
        next_s = due_s + self._period_s
        late = int(max(0.0, time.monotonic() - next_s) / self._period_s)
        self._missed[index] += late
        with self._ready:
            heapq.heappush(self._due, (next_s + late * self._period_s, index))
            self._ready.notify()
