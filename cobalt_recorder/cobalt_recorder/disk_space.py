"""Whether a data set has room for another episode."""

import shutil
from pathlib import Path


def free_bytes(dataset: Path) -> int:
    """Returns the free space of a folder's disk; 0 if it cannot be told."""
    try:
        return shutil.disk_usage(dataset).free
    except OSError:
        return 0


def shortage(dataset: Path, min_free_bytes: int) -> str:
    """Returns in words what is wrong with the free space; empty if there is enough."""
    free = free_bytes(dataset)
    if free >= min_free_bytes:
        return ''
    return (
        f'only {free / 1e6:.0f} MB are free in {dataset}, but min_free_mb is {min_free_bytes / 1e6:.0f}: '
        'free some space, or choose another dataset folder'
    )
