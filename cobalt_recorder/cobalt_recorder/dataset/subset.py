"""Makes a data set of some episodes of another: the bags' bytes are shared, so it takes no space."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from cobalt_recorder.bag_files import files_of_bag
from cobalt_recorder.dataset_index import IndexedEpisode
from cobalt_teleop.core.errors import CobaltError


def make_subset(dataset: Path, episodes: Iterable[IndexedEpisode], output: Path) -> None:
    """Links the bags of episodes into a new folder; copies them where files cannot be linked.

    What is labelled, judged or recovered in one of the two data sets later stays there alone.

    Args:
        dataset: Folder of the data set.
        episodes: Of it.
        output: Folder of the new one, which must not exist.

    Raises:
        CobaltError: It is there already, or cannot be written.
    """
    output = output.expanduser().absolute()
    try:
        output.mkdir(parents=True)
        for episode in episodes:
            made = output / episode.path
            made.mkdir(parents=True, exist_ok=True)
            for file in files_of_bag(dataset / episode.path):
                _share(file, made / file.name)
    except FileExistsError as error:
        raise CobaltError(f'{output} is there already: give another folder.') from error
    except OSError as error:
        raise CobaltError(f'{output} cannot be written: {error.strerror or error}') from error


def _share(file: Path, made: Path) -> None:
    try:
        made.hardlink_to(file)
    except OSError:
        shutil.copy2(file, made)
