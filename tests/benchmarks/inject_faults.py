#!/usr/bin/env python3
"""Injects faults into an arm that is reached as hardware is, while an operator drives it, and tells what it then did.

Kinds, in turn: host killed, hardware killed, stale targets, NaN targets, joint fault, encoder jump, network cut,
emergency stop, each at a random moment of the motion.
"""

import argparse
import random
import sys
import time

import harness

harness.enter_workspace()

import numpy as np  # noqa: E402
from driver_faults import DrivenArm, Outcome  # noqa: E402
from running_stack import free_domain  # noqa: E402


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Injects them one after the other."""
    count = arguments.faults or (8 if arguments.quick else 500)
    outcomes: list[Outcome] = []
    arm = DrivenArm(free_domain())
    try:
        arm.take_control()
        kinds = arguments.kinds or list(arm.faults())
        if unknown := set(kinds) - set(arm.faults()):
            raise SystemExit(f'no fault is called {", ".join(sorted(unknown))}; there are {", ".join(arm.faults())}')
        for number in range(count):
            time.sleep(random.uniform(0.0, 0.5))
            outcomes.append(arm.suffer(kinds[number % len(kinds)]))
            done = outcomes[-1]
            wrong = f'  WRONG: {"; ".join(done.faults)}' if done.faults else ''
            harness.say(f'{number + 1:4} {done.kind:<16} stood after {done.rested_s:.2f} s{wrong}')
    finally:
        arm.close()
    figures: harness.Figures = {'faults': len(outcomes), 'wrong': sum(bool(one.faults) for one in outcomes)}
    for kind in kinds:
        of_kind = [one for one in outcomes if one.kind == kind]
        rested = [one.rested_s * 1e3 for one in of_kind if not np.isnan(one.rested_s)]
        figures[f'{kind.replace(" ", "_")}.stood_after_max_ms'] = max(rested, default=float('nan'))
        figures[f'{kind.replace(" ", "_")}.speed_share_max'] = max((one.speed_share for one in of_kind), default=0.0)
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --faults and --kinds."""
    parser.add_argument('--faults', type=int, help='how many (500, which take an hour)')
    parser.add_argument('--kinds', nargs='+', metavar='KIND', help='these alone, such as "host killed"')


if __name__ == '__main__':
    sys.exit(harness.run('inject_faults', __doc__, measure, add_arguments))
