"""The files that belong to a bag of Cobalt, in its folder."""

from pathlib import Path

from cobalt_recorder.recover import DAMAGED
from cobalt_recorder.rosbag2_metadata import FILE_NAME
from cobalt_recorder.verdict_file import LABEL_FILE, VERDICT_FILE

PAGE = 'report.html'
_NAMES = (FILE_NAME, VERDICT_FILE, LABEL_FILE, PAGE)


def files_of_bag(folder: Path) -> list[Path]:
    """Returns the files in a bag's folder that Cobalt made, sorted; whatever else is in it belongs to somebody else."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.is_file() and (file.name in _NAMES or file.suffix == '.mcap' or f'.mcap{DAMAGED}' in file.name)
    )
