"""Which episodes are for validation: the same ones each time, however many others there are beside a group."""

import hashlib
from collections import Counter
from collections.abc import Sequence

from cobalt_recorder.dataset_index import IndexedEpisode


def group_of(episode: IndexedEpisode, keep_together: str) -> str:
    """Returns the group that an episode is split with.

    Args:
        episode: Of the index.
        keep_together: One of choice.GROUPINGS.
    """
    groups = {
        'episode': episode.path,
        'seed': f'{episode.task} {episode.seed}',
        'operator': episode.operator_id,
    }
    return groups[keep_together]


def valid_groups(groups: Sequence[str], share: float) -> set[str]:
    """Returns the groups that are set aside for validation.

    Groups are taken in the order of a hash of their names, until about the share of episodes is reached; at least one,
    and never all of them.

    Args:
        groups: Of each episode.
        share: Of the episodes.
    """
    counts = Counter(groups)
    if share <= 0.0 or len(counts) < 2:
        return set()
    chosen: set[str] = set()
    held, wanted = 0, share * len(groups)
    for name in sorted(counts, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:-1]:
        if chosen and held + counts[name] / 2 > wanted:
            break
        chosen.add(name)
        held += counts[name]
    return chosen
