"""What the log tells of requests that cannot be read: who sent one, once, and nothing of what was in it."""

import logging

from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web import RequestPayloadError

_MAX_TOLD = 1000


class MalformedRequests(logging.Filter):
    """A filter for the log of aiohttp's server: a line for each address, and never a traceback.

    A malformed request may hold a token, and may come a thousand times a second.
    """

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrites a record; returns whether it is to be shown."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return True
        if isinstance(error, ConnectionError):
            return False  # it has gone; that is no fault
        record.exc_info = None
        address = str(record.args[0]) if isinstance(record.args, tuple) and record.args else 'somebody'
        if not isinstance(error, HttpProcessingError | RequestPayloadError):
            # A fault of ours: its kind and place, which no stranger has chosen.
            record.msg, record.args = f'a request of {address} failed: {type(error).__name__}{place_of(error)}', ()
            return True
        if address in self._told or len(self._told) >= _MAX_TOLD:
            return False
        self._told.add(address)
        record.msg, record.args = f'{address} sends requests that are no HTTP; they are refused', ()
        return True


def place_of(error: BaseException) -> str:
    """Returns where in the code an error arose, as the end of a phrase."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return '' if trace is None else f' in {trace.tb_frame.f_code.co_qualname}, line {trace.tb_lineno}'
