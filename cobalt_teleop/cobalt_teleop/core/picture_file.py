"""Pictures as files: JPEG and PNG, told by their first bytes."""

_BEGINNINGS = {'jpeg': b'\xff\xd8\xff', 'png': b'\x89PNG\r\n\x1a\n'}

MAX_GOAL_BYTES = 1_000_000
"""Size of a picture of the goal, at most: each page loads it."""


def picture_format(data: bytes) -> str:
    """Returns jpeg or png; empty if it is neither."""
    return next((name for name, beginning in _BEGINNINGS.items() if data.startswith(beginning)), '')
