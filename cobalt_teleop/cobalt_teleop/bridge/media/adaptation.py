"""How large and how good video should be for the link that it has to pass: the policy, without a clock or a network.

Down fast and up slowly, as every sender on a shared network must: a report of trouble takes a third of the bits at
once; ten good seconds give some back. What has failed once is tried again only after a long time, so that a link that
carries just so much does not swing around it. A picture is never made worse than a person can drive by.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from cobalt_teleop.video.readable import LEAST_WIDTH_PX, readable_kbit_s

SCALES = (1.0, 0.75, 0.5)
"""Sizes of a picture, as shares of its own."""

CHANGE_INTERVAL_S = 3.0
"""No change sooner after another [s]: its effect must be seen first."""

RAISE_WAIT_S = 10.0
"""So long must all be well before more is asked for [s]."""

PROBE_WAIT_S = 60.0
LONGEST_PROBE_WAIT_S = 480.0
"""So long after trouble is that rate tried again which brought it [s]; twice as long after each time that it failed."""

_DOWN, _UP, _PROBE, _MEASURED = 0.65, 1.3, 1.1, 1.05
_SAFE = 0.8
"""Share of the rate that brought trouble, below which there is none."""

_PROBATION_S = 15.0
"""Trouble so soon after a raise comes from it [s]."""

_MUCH_LOSS, _SOME_LOSS = 0.10, 0.02
_LATE_MS, _SLOW_MS, _EASY_MS = 150.0, 80.0, 60.0
_AGE_WINDOW_S = 60.0
_COMFORT, _TO_GROW = 1.6, 1.3
_WORTH_TELLING = 0.12
RENEWAL_S = 10.0
"""A wish for less than the best is repeated so often [s]: hosts forget it when nobody watches, or when they restart."""


@dataclass(frozen=True, kw_only=True)
class FilmedCamera:
    """A camera as its host has it: width and height [px], pictures a second [Hz]."""

    width: int
    height: int
    rate_hz: float


@dataclass(frozen=True, kw_only=True)
class SeenCamera:
    """A camera as its viewer sees it.

    Attributes:
        fps: Pictures shown a second [Hz].
        frame_age_ms: Age of the shown picture [ms]; NaN if unknown.
        kbit_s: What arrives [kbit/s].
        freezes: Gaps of more than 200 ms since the link began.
        shown_width: On the screen [px]; 0 if unknown.
    """

    fps: float
    frame_age_ms: float
    kbit_s: float
    freezes: int
    shown_width: int = 0


@dataclass(frozen=True, kw_only=True)
class VideoSetting:
    """What a camera's encoder is asked for: size [px] and upper bound of the bit rate [kbit/s]."""

    width: int
    height: int
    kbit_s: int


class _Evidence:
    """Reads reports: is the link in trouble, at ease, or neither?"""

    def __init__(self) -> None:
        self._ages: dict[str, deque[tuple[float, float]]] = {}
        self._freezes: dict[str, int] = {}
        self._late_before = False

    def read(self, loss: float, cameras: Mapping[str, SeenCamera], now_s: float) -> tuple[bool, bool]:
        """Returns whether there is trouble, and whether all is well."""
        late_ms = max((self._late_ms(name, seen, now_s) for name, seen in cameras.items()), default=0.0)
        froze = sum(self._new_freezes(name, seen) for name, seen in cameras.items()) > 0
        loss = 0.0 if math.isnan(loss) else loss
        late, self._late_before = late_ms > _LATE_MS and self._late_before, late_ms > _LATE_MS
        trouble = loss > _MUCH_LOSS or late or (froze and (loss > _SOME_LOSS or late_ms > _SLOW_MS))
        well = loss <= _SOME_LOSS and late_ms < _EASY_MS and not froze
        return trouble, well

    def _late_ms(self, name: str, seen: SeenCamera, now_s: float) -> float:
        """How much older the picture is than the link's best of late; 0 for a page that shows none, as when hidden."""
        if math.isnan(seen.frame_age_ms) or seen.fps < 1.0:
            return 0.0
        ages = self._ages.setdefault(name, deque())
        ages.append((now_s, seen.frame_age_ms))
        while ages[0][0] < now_s - _AGE_WINDOW_S:
            ages.popleft()
        return seen.frame_age_ms - min(age for _, age in ages)

    def _new_freezes(self, name: str, seen: SeenCamera) -> int:
        before = self._freezes.get(name, seen.freezes)
        self._freezes[name] = seen.freezes
        return max(0, seen.freezes - before)


class VideoAdaptation:
    """The video of one workcell, as the reports of one viewer want it.

    Args:
        cameras: Those that are on, by name.
        top_kbit_s: Most bits that a camera is asked for [kbit/s].
    """

    def __init__(self, cameras: Mapping[str, FilmedCamera], top_kbit_s: int) -> None:
        self._cameras = dict(cameras)
        self._top = float(top_kbit_s * len(cameras))
        self._leader = ''
        self._scales = dict.fromkeys(cameras, SCALES[0])
        self._told: dict[str, VideoSetting] = {}
        self._told_s = -math.inf
        self._renewed_s = -math.inf
        self._start()

    def _start(self) -> None:
        self._budget = self._top
        self._evidence = _Evidence()
        self._used: deque[float] = deque(maxlen=3)
        self._failed = math.inf
        self._probe_wait_s = PROBE_WAIT_S
        self._down_s = self._up_s = -math.inf
        self._well_since_s: float | None = None

    def best(self) -> dict[str, VideoSetting]:
        """Returns what is asked for where nothing stands in the way."""
        top_kbit_s = round(self._top / max(1, len(self._cameras)))
        return {
            name: VideoSetting(width=camera.width, height=camera.height, kbit_s=top_kbit_s)
            for name, camera in self._cameras.items()
        }

    def note(
        self, leader: str, loss: float, cameras: Mapping[str, SeenCamera], now_s: float
    ) -> dict[str, VideoSetting]:
        """Takes a report, about once a second, and returns the settings that are to be changed now.

        Args:
            leader: Whose report it is. Another leader has another link: the best is tried anew.
            loss: Share of the packets lost, 0 to 1; NaN if unknown.
            cameras: By name.
            now_s: [s].
        """
        if leader != self._leader:
            self._leader = leader
            self._start()
        cameras = {name: seen for name, seen in cameras.items() if name in self._cameras}
        self._used.append(sum(seen.kbit_s for seen in cameras.values()))
        trouble, well = self._evidence.read(loss, cameras, now_s)
        if trouble:
            self._well_since_s = None
            self._go_down(now_s)
        elif not well:
            self._well_since_s = None
        else:
            self._well_since_s = now_s if self._well_since_s is None else self._well_since_s
            self._go_up(now_s)
        return self._news(cameras, now_s)

    def _go_down(self, now_s: float) -> None:
        if now_s - self._down_s < CHANGE_INTERVAL_S:
            return
        # What was not used has brought no trouble.
        carried = min(self._budget, _MEASURED * median(self._used))
        if now_s - self._up_s < _PROBATION_S:
            self._probe_wait_s = min(2 * self._probe_wait_s, LONGEST_PROBE_WAIT_S)
        self._failed = max(carried, self._least())
        self._budget = max(_DOWN * carried, self._least())
        self._down_s = now_s

    def _go_up(self, now_s: float) -> None:
        assert self._well_since_s is not None
        if now_s - max(self._well_since_s, self._up_s) < RAISE_WAIT_S or self._budget >= self._top:
            return
        safe = _SAFE * self._failed
        if self._budget < 0.99 * safe:
            raised = min(_UP * self._budget, safe)
        elif now_s - max(self._down_s, self._up_s) >= self._probe_wait_s:
            raised = _PROBE * max(self._budget, self._failed)
        else:
            return
        if self._budget > self._failed:
            self._failed = math.inf  # it has held: the link is better now
            self._probe_wait_s = PROBE_WAIT_S
        self._budget = min(raised, self._top)
        self._up_s = now_s

    def _least(self) -> float:
        return float(sum(_least_kbit_s(camera) for camera in self._cameras.values()))

    def _news(self, cameras: Mapping[str, SeenCamera], now_s: float) -> dict[str, VideoSetting]:
        if now_s - self._told_s < CHANGE_INTERVAL_S:
            return {}
        weights = {name: _weight(camera, cameras.get(name)) for name, camera in self._cameras.items()}
        news = {}
        for name, camera in self._cameras.items():
            kbit_s = self._budget * weights[name] / sum(weights.values())
            if self._budget >= self._top:
                kbit_s = self._top / len(self._cameras)
            setting = self._setting(name, camera, cameras.get(name), kbit_s)
            told = self._told.get(name)
            if _differs(told, setting) or (self._budget >= self._top and told != setting):
                news[name] = self._told[name] = setting
        if news:
            self._told_s = now_s
        if now_s - self._renewed_s >= RENEWAL_S:
            self._renewed_s = now_s
            best = self.best()
            news |= {name: told for name, told in self._told.items() if told != best[name]}
        return news

    def _setting(self, name: str, camera: FilmedCamera, seen: SeenCamera | None, kbit_s: float) -> VideoSetting:
        present = self._scales[name]
        chosen = SCALES[-1]
        for scale in SCALES:
            width, height = _size(camera, scale)
            margin = _COMFORT * (_TO_GROW if scale > present else 1.0)
            smaller_is_enough = seen is not None and 0 < seen.shown_width <= 0.95 * camera.width * _next(scale)
            if kbit_s >= margin * readable_kbit_s(width, height, camera.rate_hz) and not smaller_is_enough:
                chosen = scale
                break
        while chosen < 1.0 and camera.width * chosen < LEAST_WIDTH_PX:
            chosen = SCALES[SCALES.index(chosen) - 1]
        self._scales[name] = chosen
        width, height = _size(camera, chosen)
        least = readable_kbit_s(width, height, camera.rate_hz)
        return VideoSetting(width=width, height=height, kbit_s=round(max(kbit_s, least)))


def _size(camera: FilmedCamera, scale: float) -> tuple[int, int]:
    return round(camera.width * scale) & ~1, round(camera.height * scale) & ~1


def _next(scale: float) -> float:
    """Returns the next smaller scale; 0 if there is none."""
    index = SCALES.index(scale) + 1
    return SCALES[index] if index < len(SCALES) else 0.0


def _least_kbit_s(camera: FilmedCamera) -> int:
    width, height = _size(camera, SCALES[-1])
    return readable_kbit_s(width, height, camera.rate_hz)


def _weight(camera: FilmedCamera, seen: SeenCamera | None) -> float:
    """A large picture gets more of the bits than one in a corner."""
    if seen is None or seen.shown_width <= 0:
        return 1.0
    return min(1.0, max(0.3, seen.shown_width / camera.width))


def _differs(told: VideoSetting | None, setting: VideoSetting) -> bool:
    if told is None or (told.width, told.height) != (setting.width, setting.height):
        return True
    return abs(setting.kbit_s - told.kbit_s) > _WORTH_TELLING * told.kbit_s
