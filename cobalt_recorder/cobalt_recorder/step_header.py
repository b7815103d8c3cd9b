"""The first fields of a serialised ControlStep, read without decoding the rest.

Decoding a whole row takes half a millisecond; a recorder of many workcells only needs to know which row it holds.
"""

import struct
from dataclasses import dataclass

_LITTLE_ENDIAN = b'\x00\x01'


@dataclass(frozen=True)
class StepHeader:
    """Identity of a row.

    Attributes:
        stamp_ns: Time of the state before the action [ns].
        episode_id: Empty outside an episode.
        step: Number of the tick.
    """

    stamp_ns: int
    episode_id: str
    step: int


def read_step_header(cdr: bytes) -> StepHeader:
    """Reads the identity of a row.

    Args:
        cdr: A ControlStep as the middleware delivers it: 4 bytes of encapsulation, then the fields in the order of
            ControlStep.msg, numbers aligned to their size.

    Raises:
        ValueError: The bytes are too short, or not little endian CDR.
    """
    if cdr[:2] != _LITTLE_ENDIAN:
        raise ValueError(f'not little endian CDR: it begins with {cdr[:4].hex()}')
    body = memoryview(cdr)[4:]

    def text(offset: int) -> tuple[str, int]:
        offset = (offset + 3) & ~3
        (size,) = struct.unpack_from('<I', body, offset)
        end = offset + 4 + size
        return bytes(body[offset + 4 : end - 1]).decode(), end

    try:
        seconds, nanoseconds = struct.unpack_from('<iI', body, 0)
        _, offset = text(8)
        offset = ((offset + 3) & ~3) + 4  # schema_version
        _, offset = text(offset)
        episode_id, offset = text(offset)
        (step,) = struct.unpack_from('<Q', body, (offset + 7) & ~7)
    except struct.error as error:
        raise ValueError(f'too short for a ControlStep: {len(cdr)} bytes') from error
    return StepHeader(seconds * 1_000_000_000 + nanoseconds, episode_id, step)
