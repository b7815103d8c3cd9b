"""Tells whether a serialised CompressedVideo can be decoded without the frames before it."""

import struct

_START_CODE = b'\x00\x00\x01'
_SLICE, _IDR_SLICE, _SEQUENCE_PARAMETERS = 1, 5, 7


def is_key_frame(cdr: bytes) -> bool:
    """Looks for the first slice or sequence parameter set of an H.264 frame (ITU-T H.264, table 7-1).

    Args:
        cdr: A CompressedVideo as the middleware delivers it, little endian.

    Returns:
        True for a key frame, and for a format other than h264, of which nothing is known here.

    Raises:
        ValueError: The bytes are too short.
    """
    body = memoryview(cdr)[4:]
    try:
        (size,) = struct.unpack_from('<I', body, 8)
        offset = (12 + size + 3) & ~3
        (length,) = struct.unpack_from('<I', body, offset)
        data = bytes(body[offset + 4 : offset + 4 + length])
        offset = (offset + 4 + length + 3) & ~3
        (size,) = struct.unpack_from('<I', body, offset)
        codec = bytes(body[offset + 4 : offset + 3 + size])
    except struct.error as error:
        raise ValueError(f'too short for a CompressedVideo: {len(cdr)} bytes') from error
    if codec != b'h264':
        return True
    start = data.find(_START_CODE)
    while 0 <= start < len(data) - len(_START_CODE):
        kind = data[start + len(_START_CODE)] & 0x1F
        if kind in (_IDR_SLICE, _SEQUENCE_PARAMETERS):
            return True
        if kind == _SLICE:
            return False
        start = data.find(_START_CODE, start + len(_START_CODE))
    return False
