"""The hash by which what is made of a bag names its source."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

_BLOCK_BYTES = 1024 * 1024


def hash_of_files(paths: Sequence[Path]) -> str:
    """Returns the SHA-256 of the files' bytes, one file after the other, in hexadecimal: of one, its own."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open('rb') as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()
