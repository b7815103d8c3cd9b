"""`cobalt bag index`: the index of a data set in SQLite."""

import argparse
import json
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from cobalt_recorder.data_set import with_progress
from cobalt_recorder.dataset_index import INDEX_FILE, DatasetIndex
from cobalt_teleop.core.errors import CobaltError


def add_action(actions: Any) -> None:
    """Adds `index` to the command `cobalt bag`."""
    parser = actions.add_parser(
        'index',
        help='make or refresh the index of a data set',
        description=f'Writes {INDEX_FILE} into a data set: tables of its episodes, their metrics and reasons, from '
        'what lies beside the bags. What has not changed is not read again. Exit code: 0, or 1 if it failed.',
    )
    parser.add_argument('path', type=Path, help='folder of a data set')
    parser.add_argument('--rebuild', action='store_true', help='read every episode again')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    parser.set_defaults(func=make_index)


def make_index(arguments: argparse.Namespace) -> int:
    """Makes or refreshes the index; returns 0, or 1 if it failed."""
    try:
        index = DatasetIndex(
            arguments.path, rebuild=arguments.rebuild, track=lambda folders: with_progress(folders, 'reading')
        )
    except CobaltError as error:
        print(f'cobalt bag index: {error}', file=sys.stderr)
        return 1
    with closing(index):
        verdicts = Counter(episode.verdict for episode in index.episodes())
        content = {
            'index': str(index.dataset / INDEX_FILE),
            'episodes': sum(verdicts.values()),
            'read': index.read,
            'verdicts': dict(sorted(verdicts.items())),
        }
    if arguments.json:
        print(json.dumps(content))
    else:
        counts = ', '.join(f'{count} {verdict}' for verdict, count in sorted(verdicts.items()))
        print(f'{content["index"]}: {content["episodes"]} episodes ({counts or "none"}), {index.read} of them read now')
    return 0
