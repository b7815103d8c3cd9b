"""The hash by which what is made of a bag names its source."""

import hashlib
from pathlib import Path


def file_hash(path: Path) -> str:
    """Returns the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open('rb') as stream:
        return hashlib.file_digest(stream, 'sha256').hexdigest()
