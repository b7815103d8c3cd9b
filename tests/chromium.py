"""A real headless Chromium from the distribution's packages, for tests and benchmarks."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

_NAMES = ('chromium', 'chromium-browser', 'google-chrome')
_FLAGS = (
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
)

DESKTOP = {'width': 1440, 'height': 900}
PHONE = {'width': 390, 'height': 844}


def chromium_path() -> str:
    """Returns where Chromium is."""
    for name in _NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    raise RuntimeError(f'none of {", ".join(_NAMES)} is installed: apt-get install chromium')


@contextmanager
def open_page(address: str, **options: Any) -> Iterator[Page]:
    """Opens an address in a new browser, and collects what the page throws in `page.problems`.

    Args:
        address: Of the page.
        options: Of `open_pages`.
    """
    with open_pages([address], **options) as (page,):
        yield page


@contextmanager
def open_pages(
    addresses: Sequence[str],
    *,
    size: dict[str, int] | None = None,
    flags: tuple[str, ...] = (),
    starter: Callable[[str], str] = lambda path: path,
) -> Iterator[list[Page]]:
    """Opens addresses in one new browser, each as a person of its own.

    Args:
        addresses: By https, a server's certificate is taken as it is.
        size: Of the window [px].
        flags: For the browser, beside those that all tests use.
        starter: Returns the program to start for the path of the browser.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=starter(chromium_path()), args=[*_FLAGS, *flags])
        try:
            yield [_open(browser, address, size or DESKTOP) for address in addresses]
        finally:
            browser.close()


def _open(browser: Browser, address: str, size: dict[str, int]) -> Page:
    page = browser.new_page(viewport=size, ignore_https_errors=True)
    page.problems = []
    page.on('pageerror', lambda error: page.problems.append(str(error)))
    page.on('console', lambda entry: entry.type == 'error' and page.problems.append(entry.text))
    page.goto(address)
    return page


def wait_for(page: Page, expression: str, timeout_s: float) -> None:
    """Waits until an expression in the page is true. (Playwright's own waiting needs eval, which the page forbids.)"""
    end = time.monotonic() + timeout_s
    while not page.evaluate(expression):
        if time.monotonic() > end:
            state = page.evaluate('({...cobalt.connection, motion: cobalt.motion.words, problems: document.title})')
            raise AssertionError(f'not within {timeout_s:g} s: {expression}; the page: {state}, {page.problems}')
        page.wait_for_timeout(50)
