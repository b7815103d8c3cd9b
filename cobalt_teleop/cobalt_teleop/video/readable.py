"""How few bits a picture may have before a person cannot drive by it any more."""

READABLE_BITS_PER_PIXEL = 0.05
"""Seen in pictures of a moving arm: below this, edges of fingers and objects dissolve into blocks."""

LEAST_KBIT_S = 80
LEAST_WIDTH_PX = 160


def readable_kbit_s(width: int, height: int, rate_hz: float) -> int:
    """Returns the least bit rate of a video [kbit/s].

    Args:
        width: [px].
        height: [px].
        rate_hz: Pictures a second [Hz].
    """
    return max(LEAST_KBIT_S, round(width * height * rate_hz * READABLE_BITS_PER_PIXEL / 1000))
