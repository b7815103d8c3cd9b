"""The gymnasium face: gymnasium's own checks, its conventions, and the scripted expert through it."""

import itertools
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import cobalt_sim
from cobalt_sim.experts import load_expert, load_experts
from cobalt_sim.gym import make
from cobalt_sim.in_process import GuardedPlant
from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_teleop.core.command import HoldReason, Limit
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import angle_between, inverse, multiply, rotation_vector


@pytest.fixture
def made():
    """Makes environments that are closed at the end."""
    envs = []

    def make_one(*arguments, **choices):
        envs.append(cobalt_sim.make_vec(*arguments, **choices))
        return envs[-1]

    yield make_one
    for env in envs:
        env.close()


def actions_of(seed, env, steps):
    env.action_space.seed(seed)
    return [env.action_space.sample() for _ in range(steps)]


@pytest.mark.parametrize('choices', [{'actions': 'delta'}, {'actions': 'absolute'}, {'cameras': ('front', 'wrist')}])
def test_gymnasiums_own_check_is_content(choices):
    env = gymnasium.make('cobalt/lift-v0', width=64, height=48, **choices).unwrapped
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter('always')
        check_env(env)
    env.close()
    said = [str(complaint.message) for complaint in complaints if 'WARN:' in str(complaint.message)]
    # An absolute pose is in metres, not in -1 to 1.
    assert len(said) == (1 if choices.get('actions') == 'absolute' else 0), said


def test_the_vector_environment_comes_by_gymnasiums_make_vec_too():
    env = gymnasium.make_vec('cobalt/lift-v0', num_envs=2, actions='absolute')
    assert env.num_envs == 2
    assert env.action_space.shape == (2, 8)
    observations, infos = env.reset(seed=3)
    assert env.observation_space.contains(observations)
    assert infos['episode_seed'].tolist() == [3, 4]
    env.close()


@pytest.mark.parametrize('mode', [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_it_does_what_gymnasiums_own_vector_environment_does_with_single_ones(made, mode):
    ours = made('lift', 3, threads=2, time_limit_s=0.4, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: make('lift', time_limit_s=0.4)] * 3, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata == theirs.metadata
    assert data_equivalence(ours.reset(seed=5), theirs.reset(seed=5), exact=True)
    ended = 0
    for action in actions_of(1, ours, 20):
        mine, reference = ours.step(action), theirs.step(action)
        ended += int(mine[3].sum())
        for one, other in zip(mine[:4], reference[:4], strict=True):
            assert data_equivalence(one, other, exact=True)
        assert mine[4].keys() == reference[4].keys()
        for key in mine[4].keys() - {'final_obs', 'final_info'}:
            assert np.array_equal(mine[4][key], reference[4][key]), key
        if 'final_obs' in mine[4]:
            for one, other in zip(mine[4]['final_obs'], reference[4]['final_obs'], strict=True):
                assert data_equivalence(one, other, exact=True)
    assert ended >= 6
    theirs.close()


def test_the_terminal_observation_is_kept(made):
    next_step, same_step = (made('lift', 1, time_limit_s=0.2, autoreset_mode=mode) for mode in ('NextStep', 'SameStep'))
    starts = [env.reset(seed=1)[0] for env in (next_step, same_step)]
    assert data_equivalence(*starts, exact=True)
    push = np.full((1, 7), 0.5, np.float32)
    for _ in range(4):
        kept, *_, truncated, _ = next_step.step(push)
        begun, *_, infos = same_step.step(push)
    assert truncated.all()
    final = infos['final_obs'][0]
    assert np.array_equal(kept['tool_pose'][0], final['tool_pose'])
    assert not np.array_equal(begun['tool_pose'][0], final['tool_pose'])
    assert infos['final_info']['sim_time'][0] == pytest.approx(0.2)
    after, reward, _, truncated, _ = next_step.step(push)
    assert data_equivalence(after, begun, exact=True)
    assert reward[0] == 0.0
    assert not truncated.any()


def test_with_autoreset_disabled_the_environments_that_are_over_wait_for_their_reset(made):
    env = made('lift', 2, time_limit_s=0.2, autoreset_mode='Disabled')
    env.reset(seed=1)
    still = np.zeros((2, 7), np.float32)
    for _ in range(2):
        env.step(still)
    env.reset(seed=9, options={'reset_mask': np.array([False, True])})
    for _ in range(2):
        _, _, _, truncated, _ = env.step(still)
    assert truncated.tolist() == [True, False]
    with pytest.raises(CobaltError, match=r'episodes of \[0\] are over'):
        env.step(still)
    _, infos = env.reset(options={'reset_mask': np.array([True, False])})
    assert infos['_episode_seed'].tolist() == [True, False]
    assert not env.step(still)[3].any()


def test_the_same_seed_and_actions_give_the_same_states_whatever_the_threads(made):
    first, second = made('lift', 4, threads=1), made('lift', 4, threads=3)
    states = []
    for env in (first, second):
        env.reset(seed=11)
        for action in actions_of(2, env, 30):
            observations, *_ = env.step(action)
        states.append((observations, [np.concatenate([e.plant.data.qpos, e.plant.data.qvel]) for e in env.envs]))
    assert data_equivalence(states[0][0], states[1][0], exact=True)
    assert np.array_equal(states[0][1], states[1][1])


def test_other_seeds_begin_elsewhere_and_episodes_without_a_seed_go_on_from_the_last(made):
    env = made('lift', 3)
    starts = [env.reset(seed=1)[0]['cube_pose'], env.reset()[0]['cube_pose'], env.reset()[0]['cube_pose']]
    assert len({tuple(row[:2]) for row in np.concatenate(starts)}) == 9
    again = [env.reset(seed=1)[0]['cube_pose'], env.reset()[0]['cube_pose']]
    assert np.array_equal(starts[:2], again)


def test_a_seed_begins_as_an_operators_episode_of_that_seed(made, world):
    env = made('lift', 1)
    env.reset(seed=42)
    operators = MujocoPlant(world, seed=0)
    operators.reset('lift', 42)
    assert np.array_equal(env.envs[0].plant.data.qpos, operators.data.qpos)


def test_the_same_commands_move_the_arm_as_they_do_behind_the_operators_guard(made, world):
    env = made('lift', 1, actions='absolute')
    observations, _ = env.reset(seed=7)
    guarded = GuardedPlant(MujocoPlant(world))
    guarded.reset(7)
    guarded.engage_policy()
    pose = observations['tool_pose'][0]
    for tick in range(30):
        pose[0] += 0.006
        env.step(np.append(pose, 0.5).astype(np.float32)[None])
        guarded.follow((env.envs[0]._asked['arm'], 0.5))
        assert guarded.hold_reason is HoldReason.NONE, tick
    assert np.array_equal(env.envs[0].plant.data.qpos, guarded.plant.data.qpos)


def drive_by_experts(env, task, to_action, seconds):
    """Lets experts drive all environments; returns which succeeded."""
    env.reset(seed=100)
    experts = [load_expert(task) for _ in env.envs]
    done = np.zeros(env.num_envs, bool)
    grippers = np.ones(env.num_envs)
    for _ in range(round(seconds / 0.05)):
        actions = []
        for index, (single, expert) in enumerate(zip(env.envs, experts, strict=True)):
            state = single.plant.observe()
            part = state.parts[PART]
            command = expert.step(tool=part.pose, objects=state.objects, gripper=part.gripper)
            grippers[index] = grippers[index] if np.isnan(command.gripper) else command.gripper
            actions.append(to_action(single, command.pose, grippers[index]))
        _, rewards, terminated, _, infos = env.step(np.array(actions, np.float32))
        assert (infos['success'] == terminated).all()
        assert (rewards[terminated] == 1.0).all()
        assert (infos['stage'] == rewards)[rewards > 0.0].all()
        done |= terminated
        if done.all():
            break
    return done


def by_delta(single, pose, gripper):
    limits = single.plant.capabilities.parts[0].limits
    asked = single._asked['arm']
    way = (pose.position - asked.position) / (limits.linear_speed * 0.05)
    turn = rotation_vector(multiply(pose.quat_xyzw, inverse(asked.quat_xyzw))) / (limits.angular_speed * 0.05)
    return np.clip([*way, *turn, 2.0 * gripper - 1.0], -1.0, 1.0)


def by_pose(single, pose, gripper):
    return [*pose.position, *pose.quat_xyzw, gripper]


@pytest.mark.parametrize(
    ('task', 'actions', 'to_action', 'envs'),
    [('lift', 'absolute', by_pose, 10), ('lift', 'delta', by_delta, 10), ('stack', 'delta', by_delta, 5)],
)
def test_the_scripted_expert_succeeds_through_actions_alone(made, task, actions, to_action, envs):
    env = made(task, envs, actions=actions)
    assert drive_by_experts(env, task, to_action, 25.0).sum() >= envs - 1


def test_a_far_pose_is_approached_at_the_guards_speed_and_never_taken_for_lost_tracking(made):
    env = made('lift', 1, actions='absolute')
    observations, _ = env.reset(seed=1)
    corners = [[0.60, 0.25, 0.35], [0.32, -0.25, 0.10]]
    down, turned = [1.0, 0.0, 0.0, 0.0], [0.7071, 0.7071, 0.0, 0.0]
    single, speeds = env.envs[0], []
    for tick in range(120):
        goal = corners[tick // 7 % 2] if tick < 60 else corners[1]
        rotation = turned if tick < 60 and tick // 5 % 2 else down
        observations, *_ = env.step(np.array([[*goal, *rotation, 1.0]], np.float32))
        assert single._guarded.hold_reason is HoldReason.NONE
        speeds.append(np.linalg.norm(observations['tool_twist'][0, :3]))
    assert max(speeds) < 1.3 * single.plant.capabilities.parts[0].limits.linear_speed
    assert observations['tool_pose'][0, :3] == pytest.approx(corners[1], abs=3e-3)
    assert angle_between(observations['tool_pose'][0, 3:], down) < 0.02


def test_beyond_the_workspace_the_guard_says_so(made):
    env = made('lift', 1)
    env.reset(seed=1)
    outwards = np.array([[1.0, 0, 0, 0, 0, 0, 1.0]], np.float32)
    infos = [env.step(outwards)[4] for _ in range(60)]
    limit = env.envs[0].plant.capabilities.parts[0].limits.workspace_max[0]
    assert infos[-1]['limits'][0] & Limit.WORKSPACE_BOX
    assert env.envs[0].plant.observe().parts[PART].pose.position[0] == pytest.approx(limit, abs=3e-3)


def test_full_delta_actions_reach_the_guards_largest_speed(made):
    env = made('lift', 1)
    env.reset(seed=1)
    speeds = [np.linalg.norm(env.step(np.array([[0, 1, 0, 0, 0, 0, 1.0]]))[0]['tool_twist'][0, :3]) for _ in range(16)]
    assert speeds[-1] == pytest.approx(0.25, rel=0.05)
    assert max(speeds) < 1.3 * 0.25


def test_an_unstable_workcell_is_truncated_alone_and_begins_anew(made):
    env = made('lift', 2)
    env.reset(seed=1)
    env.envs[0].plant.data.qpos[0] = np.nan
    still = np.zeros((2, 7), np.float32)
    observations, _, terminated, truncated, infos = env.step(still)
    assert truncated.tolist() == [True, False]
    assert not terminated.any()
    assert 'unstable' in infos['fault'][0]
    assert np.isfinite(observations['joint_positions']).all()
    _, _, _, truncated, infos = env.step(still)
    assert not truncated.any()
    assert 'fault' not in infos


def test_pictures_are_of_each_workcell_and_of_its_present_state(made):
    env = made('lift', 3, threads=2, cameras=('front',), width=64, height=48)
    observations, _ = env.reset(seed=1)
    assert observations['front_picture'].shape == (3, 48, 64, 3)
    assert observations['front_picture'].dtype == np.uint8
    for one, other in itertools.combinations(observations['front_picture'], 2):
        assert (one != other).any()
    for index, single in enumerate(env.envs):
        shown = env._pools[index % 2].submit(single.plant.capture, 'front').result()
        assert np.array_equal(shown, observations['front_picture'][index])


def test_render_returns_a_picture_of_each_only_where_that_was_chosen(made):
    shown, blind = made('lift', 2, render_mode='rgb_array', width=64, height=48), made('lift', 1)
    for env in (shown, blind):
        env.reset(seed=1)
    assert [picture.shape for picture in shown.render()] == [(48, 64, 3)] * 2
    assert blind.render() is None
    assert 'front_picture' not in shown.single_observation_space.spaces


@pytest.mark.parametrize(
    ('choices', 'sentence'),
    [
        ({'task': 'fly'}, "no task 'fly'; known are lift, stack, pick_place"),
        ({'task': 'two_arm_lift', 'robot': 'ur5e'}, "the task 'two_arm_lift' is for the parts left and right"),
        ({'robot': 'fly'}, "no robot 'fly'"),
        ({'cameras': ('side',)}, "no camera 'side'; this scene has front, wrist"),
        ({'cameras': 'front'}, "'cameras' is a tuple of names"),
        ({'actions': 'torque'}, "'actions' is torque, but must be one of delta, absolute"),
        ({'render_mode': 'human'}, "'render_mode' is human, but must be one of None, rgb_array"),
        ({'colour': 1}, "no option 'colour'; valid are robot, actions"),
        ({'num_envs': 0}, 'num_envs is 0'),
        ({'control_rate_hz': 1000.0}, 'must be in 5 to 100'),
    ],
)
def test_a_wrong_choice_is_refused_in_words(choices, sentence):
    with pytest.raises(CobaltError, match=sentence):
        cobalt_sim.make_vec(**({'task': 'lift'} | choices))


def test_wrong_actions_are_refused_in_words(made):
    env = made('lift', 2)
    env.reset(seed=1)
    for actions, sentence in (
        (np.zeros((3, 7)), 'there are 3 actions, but 2 environments'),
        (np.zeros((2, 6)), r'shape \(7,\), not \(6,\)'),
        (np.full((2, 7), np.nan), 'must be finite'),
    ):
        with pytest.raises(CobaltError, match=sentence):
            env.step(actions)
    with pytest.raises(CobaltError, match="'seed' has 1 values, but there are 2 environments"):
        env.reset(seed=[1])


def test_it_needs_no_ros():
    words = (
        'import sys, cobalt_sim; env = cobalt_sim.make_vec("lift", 1); env.reset(seed=1); env.close();'
        'print([name for name in sys.modules if name.split(".")[0] in ("rclpy", "cobalt_interfaces")])'
    )
    result = subprocess.run([sys.executable, '-c', words], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == '[]'
    assert 'Traceback' not in result.stderr


def test_without_gymnasium_the_message_has_the_line_to_type():
    words = 'import sys; sys.modules["gymnasium"] = None\nimport cobalt_sim\ncobalt_sim.make_vec("lift")'
    result = subprocess.run([sys.executable, '-c', words], capture_output=True, text=True, timeout=60, check=False)
    assert "CobaltError: make_vec needs gymnasium: type pip install 'gymnasium>=1.4,<2'" in result.stderr


def test_the_example_of_the_documentation_runs():
    page = (Path(__file__).parents[2] / 'docs' / 'gymnasium.md').read_text()
    example = page.partition('```python\n')[2].partition('```')[0].replace('range(100)', 'range(3)')
    result = subprocess.run([sys.executable, '-c', example], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.startswith('[')
    assert 'Traceback' not in result.stderr


def test_two_arms_observe_and_act_side_by_side_and_their_experts_succeed(made):
    env = made('two_arm_lift', 2, actions='absolute', cameras=('wrist',), width=32, height=24)
    observations, _ = env.reset(seed=100)
    arms = ('left', 'right')
    assert env.single_action_space.shape == (16,)
    for arm in arms:
        assert {f'{arm}_tool_pose', f'{arm}_joint_positions', f'{arm}_gripper', f'{arm}_wrist_picture'} <= set(
            observations
        )
    experts = [load_experts('two_arm_lift') for _ in env.envs]
    done, grippers = np.zeros(2, bool), np.ones((2, 2))
    for _ in range(160):
        actions = np.zeros((2, 16), np.float32)
        for index, single in enumerate(env.envs):
            for place, arm in enumerate(arms):
                part = single.plant.observe().parts[arm]
                command = experts[index][arm].step(
                    tool=part.pose, objects=single.plant.objects_seen_by(arm), gripper=part.gripper
                )
                if not np.isnan(command.gripper):
                    grippers[index, place] = command.gripper
                actions[index, 8 * place : 8 * place + 8] = by_pose(single, command.pose, grippers[index, place])
        observations, _, terminated, _, _ = env.step(actions)
        done |= terminated
        if done.all():
            break
    assert done.all()


@pytest.mark.filterwarnings('ignore')
def test_an_environment_of_two_arms_is_one_by_gymnasiums_own_check():
    check_env(cobalt_sim.gym.make('two_arm_handover'), skip_render_check=True)
