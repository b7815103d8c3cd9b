"""The root of all errors that Cobalt raises on purpose."""


class CobaltError(Exception):
    """Something a person can mend. The message names what was wrong, the value, the valid ones, and what to do next."""
