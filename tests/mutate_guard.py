#!/usr/bin/env python3
"""Breaks each rule of the clutch and the guard once, in a copy, and tells whether a test of the core fails then.

A rule that can be broken without a failing test is no promise. The package in the working tree is never touched.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'cobalt_teleop'
TESTS = (
    'test_clutch.py',
    'test_foresight.py',
    'test_homing.py',
    'test_target_limiter.py',
    'test_tool_motion.py',
    'test_part_limits.py',
    'test_joint_motion.py',
    'test_part_controller.py',
    'test_arm_kinematics.py',
    'test_singular_postures.py',
    'test_guard_properties.py',
)


@dataclass(frozen=True)
class Mutation:
    """One broken rule.

    Attributes:
        rule: That is broken, in words.
        file: Below cobalt_teleop/cobalt_teleop/.
        text: What stands there, once.
        broken: What stands there instead.
    """

    rule: str
    file: str
    text: str
    broken: str


_CLUTCH, _LIMITER, _JOINTS = 'core/clutch.py', 'core/target_limiter.py', 'core/joint_motion.py'
_TOOL, _CONTROLLER, _LIMITS = 'core/tool_motion.py', 'core/part_controller.py', 'core/limits.py'
_ARM, _HOMING = 'kinematics/arm_kinematics.py', 'core/homing.py'

MUTATIONS = (
    # The clutch.
    Mutation('the watchdog', _CLUTCH, 'command.age_s > self._limits.watchdog_s', 'False'),
    Mutation('untracked means hold', _CLUTCH, 'if not command.tracked:', 'if False:'),
    Mutation('an old picture means hold', _CLUTCH, 'command.frame_age_s > self._max_frame_age_s', 'False'),
    Mutation(
        'a pose that is none means hold',
        _CLUTCH,
        '(command.pose if command.mode is Mode.POSE else command.twist) is None',
        'False',
    ),
    Mutation('the jump gate, position', _CLUTCH, 'step > self._limits.jump_m * ticks', 'False'),
    Mutation('the jump gate, rotation', _CLUTCH, 'turn > self._limits.jump_rad * ticks', 'False'),
    Mutation('the jump gate opens with time, up to a bound', _CLUTCH, 'min(self._ticks_since_sample, 4)', '1000'),
    Mutation('a broken epoch stays blocked', _CLUTCH, 'if command.press == blocked:', 'if False:'),
    Mutation('a press keeps its mode', _CLUTCH, '(command.mode, command.reference) != self._kind', 'False'),
    Mutation('a press is anchored at the measured pose', _CLUTCH, 'self.anchor = measured', 'self.anchor = Pose()'),
    Mutation(
        'the first tick of a press moves nothing',
        _CLUTCH,
        'return ClutchState(HoldReason.NONE, wanted=measured, engaged_now=True)',
        'return ClutchState(HoldReason.NONE, wanted=command.pose or measured, engaged_now=True)',
    ),
    Mutation('a new epoch anchors anew', _CLUTCH, 'if command.press != self._press:', 'if self._press is None:'),
    Mutation('an emergency stop asks for a fresh press', _CLUTCH, '(press, reason)', "(('', -1), reason)"),
    # The tool.
    Mutation('the box', _TOOL, 'if np.abs(into_box(place, before.pose.position, limits) - place).max()', 'if 0.0'),
    Mutation(
        'the wish is kept in the box',
        _LIMITER,
        'return np.minimum(np.maximum(position, lower), upper)',
        'return position',
    ),
    Mutation(
        'outside the box nothing is thrown back',
        _TOOL,
        'np.minimum(limits.workspace_min, here), np.maximum(limits.workspace_max, here)',
        'limits.workspace_min, limits.workspace_max',
    ),
    Mutation('linear and angular speed', _LIMITER, 'if allowed > speed_limit:', 'if False:'),
    Mutation('linear and angular acceleration', _LIMITER, 'if size > largest + _TOLERANCE:', 'if False:'),
    Mutation(
        'the target slows down before it arrives', _LIMITER, 'min(speed, stopping_speed(', 'max(speed, stopping_speed('
    ),
    Mutation('joints that are slow get room to brake', _LIMITER, 'acceleration * braking', 'acceleration'),
    Mutation('the target winds up no further than the joints get', _LIMITER, 'self._motion = reached', 'pass'),
    Mutation(
        'a way to stop keeps the linear speed', _TOOL, 'length(after.velocity) > limits.linear_speed', '0.0 > 1.0'
    ),
    Mutation(
        'a way to stop keeps the angular speed', _TOOL, 'length(after.turning) > limits.angular_speed', '0.0 > 1.0'
    ),
    Mutation(
        'a way to stop keeps the linear acceleration',
        _TOOL,
        'length(after.velocity - before.velocity) > limits.linear_acceleration',
        '0.0 > limits.linear_acceleration',
    ),
    Mutation(
        'a way to stop keeps the angular acceleration',
        _TOOL,
        'length(after.turning - before.turning) > limits.angular_acceleration',
        '0.0 > limits.angular_acceleration',
    ),
    # The joints.
    Mutation('joint speed', _JOINTS, 'Limit.JOINT_SPEED: _share(self._largest_step, way)', 'Limit.JOINT_SPEED: 1.0'),
    Mutation('joint acceleration', _JOINTS, 'if share >= 1.0 - _ROUNDING:', 'if True:'),
    Mutation(
        'the range',
        _LIMITS,
        '            np.minimum(self.joint_lower + self.joint_margin, joints),\n'
        '            np.maximum(self.joint_upper - self.joint_margin, joints),',
        '            np.minimum(self.joint_lower - 10.0, joints),\n'
        '            np.maximum(self.joint_upper + 10.0, joints),',
    ),
    Mutation('the margin', _LIMITS, 'self.joint_lower + self.joint_margin, joints', 'self.joint_lower, joints'),
    Mutation(
        'a joint outside is not thrown back',
        _LIMITS,
        'np.maximum(self.joint_upper - self.joint_margin, joints)',
        'self.joint_upper - self.joint_margin',
    ),
    Mutation(
        'a joint brakes before its end',
        _JOINTS,
        'Limit.JOINT_POSITION: self._share_in_range(way, lower, upper)',
        'Limit.JOINT_POSITION: 1.0',
    ),
    Mutation(
        'singularity slows down',
        _JOINTS,
        'Limit.SINGULARITY: self._share_near_singularity(solution)',
        'Limit.SINGULARITY: 1.0',
    ),
    Mutation('a singular posture never holds fast', _JOINTS, '_SINGULAR_CREEP = 0.01', '_SINGULAR_CREEP = 0.0'),
    Mutation(
        'the way out of a singular posture is free',
        _JOINTS,
        'if not (fall > 0.0 and',
        'fall = abs(fall)\n        if not (fall > 0.0 and',
    ),
    Mutation(
        'each limit of the joints is told', _JOINTS, '                limits |= limit\n', '                pass\n'
    ),
    Mutation('a residual is told', _JOINTS, 'limits |= Limit.IK_RESIDUAL', 'pass'),
    Mutation(
        'the tool is where the joints get to',
        _JOINTS,
        'exact = limits is Limit.NONE and _is_exact(solution)',
        'exact = True',
    ),
    Mutation(
        'no step without a way to stop',
        _JOINTS,
        'if broken is Limit.NONE:\n                self.joints,',
        'if True:\n                self.joints,',
    ),
    Mutation(
        'the way to stop is looked at',
        _JOINTS,
        'broken = self._broken_on(way, tool, lower, upper)',
        'broken = Limit.NONE',
    ),
    Mutation(
        'the way to stop keeps joint accelerations',
        _JOINTS,
        'of_joints = _share(self._largest_change, step)\n',
        'of_joints = 1.0\n',
    ),
    Mutation(
        "the way to stop keeps the tool's acceleration", _JOINTS, 'min(of_joints, gentleness * of_tool)', 'of_joints'
    ),
    Mutation(
        'hold brakes on the way to stop',
        _JOINTS,
        '        if not self._way_to_stop:\n            self._step',
        '        if True:\n            self._step',
    ),
    Mutation(
        'the expected motion stays in the range',
        _JOINTS,
        'expected = np.minimum(np.maximum(self.joints + share * self._step, lower), upper)',
        'expected = self.joints + share * self._step',
    ),
    # Clutch and guard together.
    Mutation('a press starts from rest', _CONTROLLER, 'if followed != self._followed:', 'if False:'),
    Mutation(
        'a press starts from the measured joints',
        _CONTROLLER,
        '        if state.engaged_now:\n            self._start_at(measured)\n',
        '        if state.engaged_now:\n',
    ),
    Mutation(
        'what ends the way home ends it',
        _CONTROLLER,
        '        self._end_homing()\n        if authority not in',
        '        if authority not in',
    ),
    Mutation('the way home begins at rest', _CONTROLLER, '        if self._joints.at_rest:\n', '        if True:\n'),
    Mutation('the way home keeps accelerations', _HOMING, '(_HARDEST * way + ', '(0.1 * way + '),
    Mutation('the way home keeps speeds', _HOMING, '_FASTEST * float(np.max(way', '0.5 * float(np.max(way'),
    Mutation(
        "the way home keeps the tool's limits",
        _HOMING,
        '            *_tool_durations_s(start, home, limits, kinematics),\n',
        '',
    ),
    Mutation(
        'the way home stays in the box', _HOMING, 'return grown if grown > _PLACE_TOLERANCE_M else 0.0', 'return 0.0'
    ),
    Mutation('a blocked arm holds', _CONTROLLER, 'blocked = self._is_blocked(measured)', 'blocked = False'),
    Mutation(
        'a blocked arm presses no longer',
        _CONTROLLER,
        'if blocked or must_hold is HoldReason.FAULT:',
        'if must_hold is HoldReason.FAULT:',
    ),
    Mutation(
        'a blocked arm asks for a fresh press',
        _CONTROLLER,
        'self.require_fresh_press(_presses(human), _presses(policy), told)',
        'pass',
    ),
    Mutation('who may not drive does not', _CONTROLLER, 'if authority not in self._clutches:', 'if False:'),
    Mutation(
        'a stop holds whatever comes', _CONTROLLER, 'if blocked or must_hold is not HoldReason.NONE:', 'if blocked:'
    ),
    Mutation(
        'the gripper keeps its range',
        _CONTROLLER,
        'float(np.clip(command.gripper, 0.0, 1.0))',
        'float(command.gripper)',
    ),
    # Kinematics.
    Mutation(
        'a solution keeps the range',
        _ARM,
        'joints = np.clip(here.joints + caution * step, lower, upper)',
        'joints = here.joints + caution * step',
    ),
    Mutation(
        'a solution is near', _ARM, 'if too_far > 1.0:\n                joints', 'if False:\n                joints'
    ),
    Mutation('a solution brings the tool no further away', _ARM, 'if there.missing >= here.missing:', 'if False:'),
    Mutation(
        'near a singular posture the solver says so',
        _ARM,
        'near_singular=dexterity < _SINGULAR_DEXTERITY',
        'near_singular=dexterity < 0.0',
    ),
    Mutation('a joint at its end is told', _ARM, 'bool(blocked.any())\n', 'False\n'),
)


def copied_package(folder: Path) -> Path:
    """Copies the package and its tests; returns the copied package's root."""
    copy = folder / 'cobalt_teleop'
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns('__pycache__', 'web', 'node_modules'))
    return copy


def tests_fail(copy: Path, sequences: int) -> tuple[bool, str]:
    """Runs the fast tests on a copy; returns whether one fails, and which was the first."""
    environment = {
        **os.environ,
        'PYTHONPATH': os.pathsep.join([str(copy), os.environ.get('PYTHONPATH', '')]),
        'PYTHONDONTWRITEBYTECODE': '1',
        'COBALT_GUARD_SEQUENCES': str(sequences),
    }
    command = [sys.executable, '-m', 'pytest', '-x', '-q', '--no-header', '-p', 'hypothesis', '--timeout', '300']
    done = subprocess.run(
        [*command, *TESTS], cwd=copy / 'test', env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f'pytest itself failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}')
    failed = [line for line in done.stdout.splitlines() if line.startswith('FAILED')]
    return done.returncode == 1, failed[0].split()[1] if failed else ''


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--only', default='', help='those whose rule holds this word')
    parser.add_argument('--sequences', type=int, default=100, help='hostile sequences with each arm (100)')
    arguments = parser.parse_args()
    survived = []
    with tempfile.TemporaryDirectory(prefix='mutate_guard_') as folder:
        copy = copied_package(Path(folder))
        failed, which = tests_fail(copy, arguments.sequences)
        if failed:
            raise SystemExit(f'the tests fail without a mutation: {which}')
        chosen = [mutation for mutation in MUTATIONS if arguments.only in mutation.rule]
        for number, mutation in enumerate(chosen, 1):
            path = copy / 'cobalt_teleop' / mutation.file
            original = path.read_text()
            if original.count(mutation.text) != 1:
                raise SystemExit(
                    f'{mutation.file} has {original.count(mutation.text)} times, not once: {mutation.text}'
                )
            path.write_text(original.replace(mutation.text, mutation.broken))
            started = time.monotonic()
            failed, which = tests_fail(copy, arguments.sequences)
            path.write_text(original)
            if not failed:
                survived.append(mutation.rule)
            took_s = time.monotonic() - started
            print(
                f'{number:2} {"found   " if failed else "SURVIVED"} {took_s:5.1f} s  {mutation.rule}  {which}',
                flush=True,
            )
    print(f'{len(chosen) - len(survived)} of {len(chosen)} broken rules make a test fail')
    return 1 if survived else 0


if __name__ == '__main__':
    sys.exit(main())
