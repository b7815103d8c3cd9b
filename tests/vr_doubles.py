"""A double of a headset and its controllers in Chromium."""

import sys
from pathlib import Path

_HEADSET = Path(__file__).with_name('vr_double.js')
_IWER = Path(sys.prefix) / 'npm' / 'node_modules' / 'iwer' / 'build' / 'iwer.min.js'

SOFTWARE_GL = ('--use-angle=swiftshader', '--enable-unsafe-swiftshader')
"""Flags of a Chromium that draws with WebGL where there is no graphics processor."""


def headset(*, stereo: bool = False) -> str:
    """Returns a script that gives a page a headset, which `window.headset` moves.

    Args:
        stereo: It has two eyes, side by side in its picture.
    """
    return f'window.stereo = {str(stereo).lower()};{_IWER.read_text()}{_HEADSET.read_text()}'
