"""The shipped rules, against operators who are made to be good or bad in one way each."""

from itertools import pairwise

import numpy as np
import pytest
from step_rows import PERIOD_NS, START_NS, command, part, row, table

from cobalt_recorder.accepted_episodes import AcceptedEpisodes
from cobalt_recorder.metrics.measure import measure
from cobalt_recorder.metrics.record import EpisodeRecord
from cobalt_recorder.quality_rules import judge
from cobalt_recorder.rules_file import load_rules, shipped_rules

RULES = load_rules(shipped_rules())


def stroke(start, end, seconds):
    share = np.linspace(0.0, 1.0, round(seconds * 20) + 1)[1:, None]
    smooth = 10 * share**3 - 15 * share**4 + 6 * share**5
    return start + smooth * (end - start)


def lift(generator, *, tempo=1.0, pause_s=0.2, detour_m=0.0):
    """A path down to a cube somewhere, and up with it."""
    cube = np.array([0.5, 0.0, 0.02]) + generator.uniform(-0.05, 0.05, 3) * (1, 1, 0)
    above, lifted = cube + np.array([0, 0, 0.1]), cube + np.array([0, 0, 0.2])
    aside = above + np.array([0, detour_m, 0])
    stops = [np.array([0.4, 0.0, 0.3]), above, *([aside, above] if detour_m else []), cube, lifted]
    path = [stops[0][None]]
    for start, end in pairwise(stops):
        path.append(stroke(start, end, tempo * generator.uniform(0.9, 1.1)))
        path.append(np.repeat(path[-1][-1:], round(pause_s * 20), axis=0))
    return np.concatenate(path)


def episode(path, *, latency_ms=40.0, shown_ms=80.0):
    rows = []
    for index, position in enumerate(path):
        stamp_ns = START_NS + index * PERIOD_NS
        sampled_ns = int(stamp_ns - latency_ms * 1e6)
        human = command(index, position, stamp_ns=sampled_ns, shown_ns=int(sampled_ns - shown_ms * 1e6))
        ends = index == len(path) - 1
        one = part(index, position, human=human)
        rows.append(row(index, [one], success=index >= len(path) - 2, terminal=ends))
    return measure(
        EpisodeRecord(
            steps=table(rows),
            control_rate_hz=20.0,
            outcome='SUCCESS',
            judged_by_task=True,
            first_step=100,
            last_step=99 + len(rows),
        )
    )


def shaky(path, generator):
    return path + generator.normal(0.0, 0.002, path.shape)


@pytest.fixture(scope='module')
def accepted():
    good = [episode(lift(np.random.default_rng(seed))) for seed in range(25)]
    assert {judge('SUCCESS', one, RULES).verdict for one in good} == {'ACCEPT'}
    return AcceptedEpisodes({(metric.name, metric.part): metric.value for metric in one} for one in good)


@pytest.mark.parametrize('seed', range(100, 110))
def test_a_good_operator_is_accepted(accepted, seed):
    found = judge('SUCCESS', episode(lift(np.random.default_rng(seed))), RULES, accepted=accepted)
    assert (found.verdict, found.reasons) == ('ACCEPT', ())


def bad(kind, seed):
    generator = np.random.default_rng(seed)
    match kind:
        case 'shaky':
            return episode(shaky(lift(generator), generator))
        case 'slow':
            return episode(lift(generator, tempo=3.0))
        case 'hesitant':
            return episode(lift(generator, pause_s=2.0))
        case 'roundabout':
            return episode(lift(generator, detour_m=0.6))
        case 'late':
            return episode(lift(generator), latency_ms=700.0)
        case _:
            return episode(lift(generator), shown_ms=900.0)


@pytest.mark.parametrize(
    ('kind', 'words'),
    [
        ('shaky', 'the motion is shaky'),
        ('slow', 'it took'),
        ('hesitant', 'the arm stood still'),
        ('roundabout', 'the tool travelled'),
        ('late', 'commands took'),
        ('old pictures', 'the pictures were'),
    ],
)
@pytest.mark.parametrize('seed', range(200, 203))
def test_a_bad_operator_is_looked_at_and_told_why(accepted, kind, words, seed):
    found = judge('SUCCESS', bad(kind, seed), RULES, accepted=accepted)
    assert found.verdict == 'REVIEW'
    assert any(reason.startswith(words) for reason in found.reasons), found.reasons
    assert found.tip
