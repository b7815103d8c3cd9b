"""The episodes of a data set that their recorder left without a verdict, such as by a power failure."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cobalt_recorder.reserved_file import being_written
from cobalt_recorder.rosbag2_metadata import FILE_NAME, read_metadata
from cobalt_recorder.verdict_file import VERDICT_FILE, RecordedEpisode


def unjudged_bags(dataset: Path) -> Iterator[RecordedEpisode]:
    """Yields the episodes of Cobalt in <dataset>/<task>/<episode id>/ that have no verdict, and nobody records.

    Whoever wrote other bags into the data set did not ask for their verdicts.
    """
    for metadata in sorted(dataset.glob(f'[!.]*/[!.]*/{FILE_NAME}')):
        folder = metadata.parent
        try:
            if (folder / VERDICT_FILE).exists() or any(being_written(file) for file in folder.glob('*.mcap')):
                continue
            facts = read_metadata(folder).get('custom_data')
        except (OSError, ValueError):
            continue
        if not isinstance(facts, Mapping) or not {'recorder_version', 'episode_id', 'workcell_id'} <= facts.keys():
            continue
        yield RecordedEpisode(
            folder=folder,
            workcell_id=str(facts['workcell_id']),
            episode_id=str(facts['episode_id']),
            task=str(facts.get('task', '')),
            outcome=str(facts.get('outcome', 'ABORTED')),
            outcome_source=str(facts.get('outcome_source', 'PREDICATE')),
        )
