"""ULIDs: identifiers that sort by time (github.com/ulid/spec)."""

import secrets

_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'


def new_ulid(time_ms: int) -> str:
    """Returns a ULID: 48 bits of time [ms since 1970], 80 random bits, as 26 characters."""
    number = (time_ms & ((1 << 48) - 1)) << 80 | secrets.randbits(80)
    return ''.join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))
