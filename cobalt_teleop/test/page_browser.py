"""The browser in which pages are tested."""

import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

_CHROMIUM = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
_FLAGS = ('--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update')

needs_chromium = pytest.mark.skipif(_CHROMIUM is None, reason='no Chromium: apt-get install chromium')


@contextmanager
def running_browser():
    """Starts Chromium, and ends it."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=_CHROMIUM, args=list(_FLAGS))
        yield made
        made.close()
