"""Line plots as SVG inside a page: small, sharp at any size, in the page's own colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 12, 40
_MOST_POINTS = 1500
_TICKS = 6

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """One line.

    Attributes:
        label: For the legend.
        x: (n,).
        y: (n,); where it is not finite, the line is broken.
        dots: Points in place of a line.
        colours: (n,) class of each dot; empty for the colour of the series.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    dots: bool = False
    colours: Sequence[str] = ()


@dataclass(frozen=True)
class _Axis:
    """Maps values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, values: ArrayLike) -> Vector:
        share = (np.asarray(values, dtype=float) - self.low) / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))

    def ticks(self) -> list[float]:
        """Returns round values inside, about six."""
        raw = (self.high - self.low) / _TICKS
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw)
        first = math.ceil(self.low / step - 1e-9)
        return [
            index * step for index in range(first, first + 2 * _TICKS + 1) if index * step <= self.high + 1e-9 * step
        ]


def line_plot(title: str, x_label: str, y_label: str, series: Sequence[Series], *, equal: bool = False) -> str:
    """Returns a figure with title, legend and plot, as HTML.

    Args:
        title: Above the plot.
        x_label: With unit.
        y_label: With unit.
        series: In the order of their colours.
        equal: A unit is as long on both axes, as in a map.
    """
    drawn = [(one, np.asarray(one.x, dtype=float), np.asarray(one.y, dtype=float)) for one in series]
    usable = [np.isfinite(x) & np.isfinite(y) for _, x, y in drawn]
    xs = np.concatenate([x[good] for (_, x, _), good in zip(drawn, usable, strict=True)] or [np.zeros(0)])
    ys = np.concatenate([y[good] for (_, _, y), good in zip(drawn, usable, strict=True)] or [np.zeros(0)])
    if not xs.size:
        return f'<figure><figcaption>{escape(title)}</figcaption><p class="none">No figures.</p></figure>'
    x_axis, y_axis = _axes(xs, ys, equal=equal)
    lines = [_grid(x_axis, y_axis, x_label, y_label)]
    for index, ((one, x, y), good) in enumerate(zip(drawn, usable, strict=True)):
        if one.dots:
            colours = one.colours or [f's{index}'] * len(x)
            lines += [
                f'<circle class="{escape(colour)}" cx="{px:.1f}" cy="{py:.1f}" r="4"/>'
                for px, py, colour, fine in zip(x_axis(x), y_axis(y), colours, good, strict=True)
                if fine
            ]
        else:
            lines.append(f'<path class="s{index}" d="{_path(x_axis(x), y_axis(y), good)}"/>')
    keys = ''.join(f'<span class="key s{index}">{escape(one.label)}</span>' for index, one in enumerate(series))
    legend = f'<div class="keys">{keys}</div>' if len(series) > 1 else ''
    svg = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">{"".join(lines)}</svg>'
    return f'<figure><figcaption>{escape(title)}</figcaption>{legend}{svg}</figure>'


def _axes(xs: Vector, ys: Vector, *, equal: bool) -> tuple[_Axis, _Axis]:
    x_low, x_high = _range(xs)
    y_low, y_high = _range(ys)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    if equal:
        per_pixel = max((x_high - x_low) / width, (y_high - y_low) / height)
        x_low, x_high = (x_low + x_high - per_pixel * width) / 2, (x_low + x_high + per_pixel * width) / 2
        y_low, y_high = (y_low + y_high - per_pixel * height) / 2, (y_low + y_high + per_pixel * height) / 2
    return _Axis(x_low, x_high, _LEFT, _WIDTH - _RIGHT), _Axis(y_low, y_high, _HEIGHT - _BOTTOM, _TOP)


def _range(values: Vector) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or max(abs(low) * 0.05, 1e-3)
    return low - margin, high + margin


def _grid(x_axis: _Axis, y_axis: _Axis, x_label: str, y_label: str) -> str:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    found = []
    for value in x_axis.ticks():
        place = float(x_axis(value))
        found.append(f'<line class="grid" x1="{place:.1f}" y1="{_TOP}" x2="{place:.1f}" y2="{bottom}"/>')
        found.append(f'<text x="{place:.1f}" y="{bottom + 16}" text-anchor="middle">{value:.4g}</text>')
    for value in y_axis.ticks():
        place = float(y_axis(value))
        found.append(f'<line class="grid" x1="{_LEFT}" y1="{place:.1f}" x2="{right}" y2="{place:.1f}"/>')
        found.append(f'<text x="{_LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{value:.4g}</text>')
    middle_x, middle_y = (_LEFT + right) / 2, (_TOP + bottom) / 2
    found.append(f'<text x="{middle_x}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>')
    turn = f'rotate(-90 12 {middle_y})'
    found.append(f'<text x="12" y="{middle_y}" text-anchor="middle" transform="{turn}">{escape(y_label)}</text>')
    return ''.join(found)


def _path(x: Vector, y: Vector, good: NDArray[np.bool_]) -> str:
    keep = np.arange(0, len(x), max(1, -(-len(x) // _MOST_POINTS)))
    words, pen_is_down = [], False
    for px, py, fine in zip(x[keep], y[keep], good[keep], strict=True):
        if fine:
            words.append(f'{"L" if pen_is_down else "M"}{px:.1f} {py:.1f}')
        pen_is_down = bool(fine)
    return ''.join(words)
