"""The host over real rclpy, with the tiny plant."""

import threading
import time

import av
import pytest
import rclpy
from geometry_msgs.msg import Twist, Vector3
from rclpy.executors import SingleThreadedExecutor
from ros_operator import WAIT_S, Operator, until
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool, Header

from cobalt_interfaces.msg import ControlStep, EpisodeState, PartStep, RecordingState, TeleopCommand
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.video import video_wishes
from cobalt_teleop.workcell_host.host_node import HostNode
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant
from cobalt_teleop.workcell_host.sole_host import ServedAlreadyError
from cobalt_teleop.workcell_host.stop_button_parameters import StopButtonParameters
from cobalt_teleop.workcell_host.workcell import HostOptions


@pytest.fixture
def ros():
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def host(ros):
    node = HostNode('test_host')
    plants = {'env_0': IdealPlant(), 'env_1': IdealPlant()}
    node.host(plants, HostOptions(render_threads=2))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    node.plants = plants
    yield node
    executor.shutdown()
    thread.join(2.0)
    node.close()
    node.destroy_node()


@pytest.fixture
def operator(host):
    made = Operator('operator')
    for topic in (topics.CONTROL_STEP, topics.CONTROL_STATE, topics.EPISODE, topics.WORKCELL):
        made.listen(topic)
    until(lambda: made.newest(topics.CONTROL_STEP), 'the first tick')
    yield made
    made.close()


def take_control(operator, session='s1', name='Ada'):
    answer = operator.call('AcquireControl', session_id=session, operator_id=name)
    assert answer.ok, answer.reason
    return answer.lease_id


def drive_until(operator, lease_id, condition, what, *, speed=0.004, **fields):
    place = 0.0
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        operator.command(lease_id, z=place, **fields)
        if condition():
            return place
        place += speed
        time.sleep(0.025)
    raise AssertionError(f'timed out: {what}')


def part(operator):
    return operator.newest(topics.CONTROL_STEP).parts[0]


def test_tools_that_subscribe_get_joints_and_poses_and_the_ticks_go_on(operator):
    tools = (topics.JOINT_STATES, topics.current_pose('arm'))
    for topic in tools:
        operator.listen(topic)
    for topic in tools:
        until(lambda topic=topic: operator.newest(topic), topic.name)
    joints, measured = operator.newest(topics.JOINT_STATES), part(operator)
    assert len(joints.name) == len(joints.position) == len(measured.joint_positions) > 0
    assert operator.newest(topics.current_pose('arm')).header.frame_id == 'env_0/arm_base'
    rows = operator.heard[('control_step', 'env_0')]
    count = len(rows)
    until(lambda: len(rows) > count + 2, 'ticks after that')


def test_one_row_a_tick_at_the_rate_with_nothing_left_out(operator):
    time.sleep(1.5)
    rows = list(operator.heard[('control_step', 'env_0')])
    assert [row.step for row in rows] == list(range(rows[0].step, rows[0].step + len(rows)))
    ticks = [row.monotonic_ns for row in rows]
    rate = (len(ticks) - 1) / ((ticks[-1] - ticks[0]) * 1e-9)
    assert rate == pytest.approx(20.0, rel=0.05)
    assert all(row.parts[0].hold_reason == PartStep.HOLD_NO_LEASE for row in rows)


def test_the_holder_drives_and_silence_holds_until_a_fresh_press(operator):
    lease_id = take_control(operator)
    start = part(operator).pose.position.z
    place = drive_until(operator, lease_id, lambda: part(operator).pose.position.z > start + 0.05, 'the arm moves')
    until(lambda: part(operator).hold_reason == PartStep.HOLD_STALE, 'the watchdog holds')
    operator.command(lease_id, z=place)
    time.sleep(0.15)
    assert part(operator).hold_reason == PartStep.HOLD_STALE
    held = part(operator).pose.position.z
    for _ in range(8):
        operator.command(lease_id, z=0.0, epoch=2)
        time.sleep(0.03)
    assert part(operator).authority == ControlStep.AUTHORITY_HUMAN
    assert part(operator).pose.position.z == pytest.approx(held, abs=1e-3)


def test_a_command_that_is_old_by_its_stamp_does_not_move(operator):
    lease_id = take_control(operator)
    old = Header(stamp=to_stamp(now_ns() - 2_000_000_000))
    for _ in range(5):
        operator.command(lease_id, z=0.01, header=old)
        time.sleep(0.03)
    assert part(operator).hold_reason == PartStep.HOLD_STALE


def test_strangers_are_refused_and_named_while_the_holder_drives_on(operator, host):
    lease_id = take_control(operator)
    stranger = Operator('stranger')
    try:
        refused = stranger.call('AcquireControl', session_id='s2', operator_id='Bo')
        assert not refused.ok and 'Ada holds control' in refused.reason
        drive_until(operator, lease_id, lambda: part(operator).authority == ControlStep.AUTHORITY_HUMAN, 'Ada drives')

        def named():
            stranger.command(lease_id, z=-5.0, epoch=4)
            state = operator.newest(topics.CONTROL_STATE)
            return any('/stranger' in fault for fault in state.faults)

        drive_until(operator, lease_id, named, 'the stranger is named', speed=0.0)
        assert part(operator).human.clutch_epoch == 1
        assert part(operator).authority == ControlStep.AUTHORITY_HUMAN
    finally:
        stranger.close()


def test_a_new_publisher_may_follow_one_that_is_gone(operator):
    lease_id = take_control(operator)
    first = Operator('first_keyboard')
    drive_until(first, lease_id, lambda: part(operator).authority == ControlStep.AUTHORITY_HUMAN, 'the first drives')
    first.close()
    second = Operator('second_keyboard')
    try:
        drive_until(
            second, lease_id, lambda: part(operator).human.clutch_epoch == 5, 'the second drives', epoch=5, speed=0.0
        )
    finally:
        second.close()


def test_anyone_stops_and_clearing_needs_a_fresh_press(operator):
    lease_id = take_control(operator)
    drive_until(operator, lease_id, lambda: part(operator).authority == ControlStep.AUTHORITY_HUMAN, 'driving')
    assert operator.call('EmergencyStop', workcell_id='', who='a passer-by').ok
    until(lambda: part(operator).hold_reason == PartStep.HOLD_EMERGENCY_STOP, 'stopped')
    state = until(lambda: (s := operator.newest(topics.CONTROL_STATE)).estop and s, 'the stop is told')
    assert state.estop_by == 'a passer-by'
    assert not operator.call('ClearEmergencyStop', who='Ada', confirm=False).ok
    assert operator.call('ClearEmergencyStop', who='Ada', confirm=True).ok
    for _ in range(6):
        operator.command(lease_id, z=0.02)
        time.sleep(0.03)
    assert part(operator).hold_reason == PartStep.HOLD_REENGAGE
    drive_until(
        operator, lease_id, lambda: part(operator).authority == ControlStep.AUTHORITY_HUMAN, 'driving again', epoch=2
    )


def test_an_invalid_pose_holds_and_never_breaks_the_loop(operator):
    lease_id = take_control(operator)
    for bad in (float('nan'), float('inf'), 1e300):
        operator.command(lease_id, x=bad, epoch=3)
        until(lambda: part(operator).hold_reason == PartStep.HOLD_INVALID, f'{bad} holds')
    before = operator.newest(topics.CONTROL_STEP).step
    until(lambda: operator.newest(topics.CONTROL_STEP).step > before + 3, 'ticks go on')


def test_a_twist_beyond_all_reason_holds_and_ticks_go_on(operator):
    lease_id = take_control(operator)
    twist = Twist(angular=Vector3(x=0.0, y=0.0, z=1e200))
    for _ in range(4):
        operator.command(lease_id, mode=TeleopCommand.MODE_TWIST, twist=twist)
        time.sleep(0.04)
    assert part(operator).hold_reason == PartStep.HOLD_INVALID
    assert not operator.newest(topics.CONTROL_STATE).faults


def test_a_press_from_before_control_moves_nothing_until_it_is_fresh(operator):
    place = 0.0
    for _ in range(8):
        place += 0.004
        operator.command('no lease yet', z=place, epoch=3)
        time.sleep(0.03)
    lease_id = take_control(operator)
    start = part(operator).pose.position.z
    for _ in range(8):
        place += 0.004
        operator.command(lease_id, z=place, epoch=3)
        time.sleep(0.03)
    assert part(operator).hold_reason == PartStep.HOLD_REENGAGE
    assert part(operator).pose.position.z == start
    drive_until(operator, lease_id, lambda: part(operator).pose.position.z > start + 0.02, 'a fresh press', epoch=4)


def test_a_press_that_began_before_the_host_was_started_moves_nothing_until_it_is_fresh(operator):
    operator.pressed, operator.engaged_since = (3, True), to_stamp(now_ns() - 5 * 10**9)
    lease_id = take_control(operator)
    start, place = part(operator).pose.position.z, 0.0
    for _ in range(8):
        place += 0.004
        operator.command(lease_id, z=place, epoch=3)
        time.sleep(0.03)
    assert part(operator).hold_reason == PartStep.HOLD_REENGAGE
    assert part(operator).pose.position.z == start
    drive_until(operator, lease_id, lambda: part(operator).pose.position.z > start + 0.02, 'a fresh press', epoch=4)


def test_after_a_standstill_of_the_host_what_goes_on_is_an_old_press(host, operator):
    lease_id = take_control(operator)
    place = drive_until(operator, lease_id, lambda: part(operator).pose.position.z > 0.23, 'motion')
    workcell = host._workcells['env_0']
    with workcell._lock:
        time.sleep(0.6)
        operator.command(lease_id, z=place + 0.01)
        # What the operator heard last may be a tick or two older.
        before = host.plants['env_0'].observe().parts['arm'].pose.position[2]
    for _ in range(10):
        place += 0.004
        operator.command(lease_id, z=place)
        time.sleep(0.03)
    assert part(operator).hold_reason == PartStep.HOLD_REENGAGE
    assert part(operator).pose.position.z == pytest.approx(before, abs=0.01)
    drive_until(operator, lease_id, lambda: part(operator).pose.position.z > before + 0.02, 'a fresh press', epoch=2)


def test_a_picture_of_a_time_to_come_is_no_fresh_one(operator):
    lease_id = take_control(operator)
    for _ in range(8):
        operator.command(lease_id, z=0.01, shown_frame_stamp=to_stamp(now_ns() + 3600 * 10**9))
        time.sleep(0.03)
    assert part(operator).hold_reason == PartStep.HOLD_FRAME_STALE


def test_an_emergency_stop_outlives_a_host_that_dies_and_no_other(ros):
    def start():
        node = HostNode('test_host')
        node.host({'env_0': IdealPlant()}, HostOptions(render_threads=1))
        return node, node._workcells['env_0']

    node, workcell = start()
    workcell.emergency_stop('Ada')
    node._schedule.stop()
    node._locks._give_back()  # as the system does when the process is killed
    node.destroy_node()
    second, workcell = start()
    assert workcell._estop_by == 'Ada' and workcell._plant.stopped
    workcell.clear_emergency_stop('Ada', True)
    second._schedule.stop()
    second._locks._give_back()
    second.destroy_node()
    third, workcell = start()
    assert workcell._estop_by == ''
    workcell.emergency_stop('Ada')
    third.close()
    third.destroy_node()
    fourth, workcell = start()
    assert workcell._estop_by == '', 'a host that was ended on purpose'
    fourth.close()
    fourth.destroy_node()


class Policy:
    """Streams absolute poses that lie higher and higher."""

    def __init__(self, operator):
        self.publisher = create_publisher(operator.node, topics.policy_command('arm'), 'env_0')
        self.z = 0.22

    def stream(self, lease_id, ticks):
        for _ in range(ticks):
            self.z = min(0.4, self.z + 0.003)
            message = TeleopCommand(
                reference=TeleopCommand.REFERENCE_ABSOLUTE,
                lease_id=lease_id,
                engaged=True,
                tracked=True,
                clutch_epoch=1,
                source='policy',
                gripper=float('nan'),
            )
            message.header.stamp = to_stamp(now_ns())
            message.pose.position.z = self.z
            self.publisher.publish(message)
            time.sleep(0.04)


def test_a_policy_drives_when_it_is_chosen_and_only_while_somebody_holds_control(operator):
    lease_id = take_control(operator)
    policy = Policy(operator)
    policy.stream(lease_id, 10)
    assert part(operator).authority == ControlStep.AUTHORITY_HOLD
    for _ in range(2):
        assert operator.call('SetAuthority', lease_id=lease_id, authority=2).ok
        policy.stream(lease_id, 10)
        assert part(operator).authority == ControlStep.AUTHORITY_POLICY
        assert operator.call('SetAuthority', lease_id=lease_id, authority=1).ok
        policy.stream(lease_id, 3)
    assert operator.call('SetAuthority', lease_id=lease_id, authority=2).ok
    policy.stream(lease_id, 5)
    assert operator.call('ReleaseControl', lease_id=lease_id).ok
    policy.stream(lease_id, 5)
    held = part(operator).pose.position.z
    policy.stream(lease_id, 10)
    assert part(operator).hold_reason == PartStep.HOLD_NO_LEASE
    assert part(operator).pose.position.z == held
    assert operator.newest(topics.CONTROL_STEP).authority == ControlStep.AUTHORITY_HOLD


def test_the_way_home_ends_with_the_control_of_who_ordered_it(operator):
    lease_id = take_control(operator)
    start = part(operator).pose.position.z
    drive_until(operator, lease_id, lambda: part(operator).pose.position.z > start + 0.1, 'away from home')
    assert operator.call('Home', lease_id=lease_id, speed_scale=0.05).ok
    until(lambda: part(operator).authority == ControlStep.AUTHORITY_HOMING, 'homing')
    assert operator.call('ReleaseControl', lease_id=lease_id).ok
    until(lambda: part(operator).hold_reason == PartStep.HOLD_NO_LEASE, 'it holds')


def test_a_key_held_on_the_way_home_does_not_drive_when_home_is_reached(operator):
    lease_id = take_control(operator)
    start = part(operator).pose.position.z
    place = drive_until(operator, lease_id, lambda: part(operator).pose.position.z > start + 0.03, 'away from home')
    assert operator.call('Home', lease_id=lease_id, speed_scale=1.0).ok
    reached = []

    def home():
        nonlocal place
        place += 0.002
        operator.command(lease_id, z=place, epoch=2)
        reached.append(operator.newest(topics.CONTROL_STEP).authority)
        return ControlStep.AUTHORITY_HOMING in reached and reached[-1] == ControlStep.AUTHORITY_HOLD

    until(home, 'home is reached')
    for _ in range(6):
        home()
        time.sleep(0.03)
    assert part(operator).hold_reason == PartStep.HOLD_REENGAGE


def test_a_restarted_device_node_is_heard_soon_and_not_accused(operator):
    lease_id = take_control(operator)
    first = Operator('keyboard_double')
    drive_until(first, lease_id, lambda: part(operator).authority == ControlStep.AUTHORITY_HUMAN, 'the first drives')
    second = Operator('keyboard_double')  # the first is silent, but the middleware does not know yet that it is dead
    try:
        drive_until(
            second, lease_id, lambda: part(operator).human.clutch_epoch == 5, 'the second drives', epoch=5, speed=0.0
        )
        until(lambda: not operator.newest(topics.CONTROL_STATE).faults, 'nobody is accused')
    finally:
        first.close()
        second.close()


@pytest.mark.parametrize('text', ['x' * 3000, 'Eve\n[ERROR] forged', 'bell\a'])
def test_texts_without_measure_are_refused(operator, text):
    lease_id = take_control(operator)
    assert operator.call('StartEpisode', lease_id=lease_id, seed=1).ok
    refused = operator.call('EndEpisode', lease_id=lease_id, note=text)
    assert not refused.ok and 'note' in refused.reason and len(refused.reason) < 300
    assert 'operator_id' in operator.call('AcquireControl', session_id='s', operator_id=text).reason


def test_an_episode_that_needs_its_recorder_ends_when_that_falls_silent(operator):
    recorder = create_publisher(operator.node, topics.RECORDING, 'env_0')
    lease_id = take_control(operator)
    answer = operator.call('StartEpisode', lease_id=lease_id, require_recording=True)
    recorder.publish(RecordingState(episode_id=answer.episode_id, state=RecordingState.STATE_READY))
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING, 'it runs')
    ended = until(
        lambda: (e := operator.newest(topics.EPISODE)).phase >= EpisodeState.PHASE_ENDING and e, 'it ends', 10.0
    )
    assert ended.outcome == EpisodeState.OUTCOME_ABORTED and 'recorder' in ended.end_reason


@pytest.mark.parametrize('state', [RecordingState.STATE_FINALISING, RecordingState.STATE_FAILED])
def test_a_recording_that_breaks_off_ends_the_episode_at_once_with_the_recorders_own_reason(operator, state):
    recorder = create_publisher(operator.node, topics.RECORDING, 'env_0')
    lease_id = take_control(operator)
    answer = operator.call('StartEpisode', lease_id=lease_id, require_recording=True)
    recorder.publish(RecordingState(episode_id=answer.episode_id, state=RecordingState.STATE_READY))
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING, 'it runs')
    reason = 'the disk of /data is full'
    recorder.publish(RecordingState(episode_id=answer.episode_id, state=state, reason=reason))
    ended = until(lambda: (e := operator.newest(topics.EPISODE)).phase >= EpisodeState.PHASE_ENDING and e, 'it ends')
    assert ended.outcome == EpisodeState.OUTCOME_ABORTED
    assert ended.end_reason == f'the recording broke off: {reason}'


class Button:
    """A stop button on a topic."""

    def __init__(self, node, kind):
        self.publisher = node.create_publisher(kind, 'cell/stop', 5)
        until(self.publisher.get_subscription_count, 'the host hears the button')


def stopped_by(operator):
    state = operator.newest(topics.CONTROL_STATE)
    return state.estop_by if state is not None and state.estop else ''


def test_a_stop_button_over_a_topic_stops_and_holds_the_stop_while_it_is_pressed(host, operator):
    host.hear_stop_button(StopButtonParameters(stop_topic='cell/stop'))
    button = Button(operator.node, Bool)
    button.publisher.publish(Bool(data=False))
    button.publisher.publish(Bool(data=True))
    until(lambda: 'cell/stop' in stopped_by(operator), 'the stop')
    assert 'pressed' in operator.call('ClearEmergencyStop', who='Ada', confirm=True).reason
    button.publisher.publish(Bool(data=False))
    until(lambda: operator.call('ClearEmergencyStop', who='Ada', confirm=True).ok, 'the release')
    until(lambda: not stopped_by(operator), 'the end of the stop')


def test_what_one_publisher_of_the_stop_button_says_another_cannot_take_back(host, operator):
    host.hear_stop_button(StopButtonParameters(stop_topic='cell/stop'))
    button, other = Button(operator.node, Bool), Button(operator.node, Bool)

    def clear():
        return operator.call('ClearEmergencyStop', who='Ada', confirm=True)

    def says(publisher, down):
        for _ in range(5):
            publisher.publish(Bool(data=down))
            time.sleep(0.02)

    says(other.publisher, False)
    says(button.publisher, True)
    says(other.publisher, False)
    until(lambda: 'cell/stop' in stopped_by(operator), 'the stop')
    assert 'is pressed' in clear().reason
    says(button.publisher, False)
    until(lambda: clear().ok, 'the release by the one that pressed')
    # One that is gone cannot say that it is over: then a person may.
    says(button.publisher, True)
    says(other.publisher, False)
    assert 'is pressed' in clear().reason
    operator.node.destroy_publisher(button.publisher)
    until(lambda: clear().ok, 'the release by a person')


def test_a_stop_button_that_falls_silent_stops_though_another_is_heard(host, operator):
    host.hear_stop_button(StopButtonParameters(stop_topic='cell/stop', stop_timeout_s=0.5))
    button, other = Button(operator.node, Bool), Button(operator.node, Bool)

    for _ in range(5):
        for publisher in (button.publisher, other.publisher):
            publisher.publish(Bool(data=False))
        time.sleep(0.02)

    def only_the_other():
        other.publisher.publish(Bool(data=False))
        return 'silence' in stopped_by(operator)

    until(only_the_other, 'the stop for the silence of the first')
    assert 'not heard' in operator.call('ClearEmergencyStop', who='Ada', confirm=True).reason


def test_a_stop_button_that_falls_silent_stops_too(host, operator):
    host.hear_stop_button(StopButtonParameters(stop_topic='cell/stop', stop_type='joy', stop_timeout_s=0.5))
    until(lambda: 'silence' in stopped_by(operator), 'the stop for want of a button')
    assert 'not heard' in operator.call('ClearEmergencyStop', who='Ada', confirm=True).reason
    button = Button(operator.node, Joy)

    def released():
        button.publisher.publish(Joy(buttons=[0, 0]))
        return operator.call('ClearEmergencyStop', who='Ada', confirm=True).ok

    until(released, 'the release of a button that is heard')
    # A Joy without the button is another device than was meant.
    button.publisher.publish(Joy(buttons=[]))
    until(lambda: 'cell/stop' in stopped_by(operator), 'the stop by a device without the button')


def test_practice_waits_for_no_recorder_and_says_what_it_is(operator):
    recorder = create_publisher(operator.node, topics.RECORDING, 'env_0')
    lease_id = take_control(operator)
    assert operator.call('StartEpisode', lease_id=lease_id, require_recording=True, practice=True).ok
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING, 'it runs')
    assert operator.newest(topics.EPISODE).practice
    assert operator.call('EndEpisode', lease_id=lease_id, outcome=EpisodeState.OUTCOME_SUCCESS).ok
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_ENDED, 'it ends')
    assert operator.call('StartEpisode', lease_id=lease_id).ok
    until(lambda: not operator.newest(topics.EPISODE).practice, 'the next one is none')
    operator.node.destroy_publisher(recorder)


def test_an_episode_without_a_recorder_runs_or_is_refused_as_asked(operator):
    lease_id = take_control(operator)
    assert operator.call('StartEpisode', lease_id=lease_id, require_recording=True).ok
    refused = until(
        lambda: (e := operator.newest(topics.EPISODE)).phase == EpisodeState.PHASE_ENDED and e, 'refused', 12.0
    )
    assert refused.outcome == EpisodeState.OUTCOME_ABORTED and 'recorder' in refused.end_reason
    answer = operator.call('StartEpisode', lease_id=lease_id, seed=5)
    assert answer.ok
    running = until(lambda: (e := operator.newest(topics.EPISODE)).phase == EpisodeState.PHASE_RUNNING and e, 'it runs')
    assert running.episode_id == answer.episode_id and running.seed == 5 and running.operator_id == 'Ada'
    second = operator.call('StartEpisode', lease_id=lease_id)
    assert not second.ok and 'running' in second.reason


def test_success_ends_the_episode_with_one_terminal_row(operator):
    lease_id = take_control(operator)
    assert operator.call('StartEpisode', lease_id=lease_id, seed=1).ok
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING, 'it runs')
    drive_until(
        operator,
        lease_id,
        lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_ENDED,
        'the tool is raised',
        speed=0.008,
        epoch=2,
    )
    episode = operator.newest(topics.EPISODE)
    assert episode.outcome == EpisodeState.OUTCOME_SUCCESS
    rows = [row for row in operator.heard[('control_step', 'env_0')] if row.episode_id == episode.episode_id]
    assert [row.step for row in rows] == list(range(episode.first_step, episode.last_step + 1))
    assert [row.terminal for row in rows] == [False] * (len(rows) - 1) + [True]
    assert rows[-1].parts[0].joint_targets.tolist() == [] and len(rows[-1].parts[0].joint_positions) == 6
    labelled = operator.call('LabelEpisode', episode_id=episode.episode_id, outcome=2, outcome_source=2, note='slipped')
    assert labelled.ok
    until(lambda: operator.newest(topics.EPISODE).outcome == EpisodeState.OUTCOME_FAILURE, 'the label is told')


def test_the_handshake_waits_for_the_recorder_and_for_its_saving(operator):
    recorder = create_publisher(operator.node, topics.RECORDING, 'env_0')
    lease_id = take_control(operator)
    answer = operator.call('StartEpisode', lease_id=lease_id, require_recording=True)
    time.sleep(0.3)
    assert operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_PREPARING
    assert part(operator).hold_reason == PartStep.HOLD_RESETTING
    recorder.publish(RecordingState(episode_id='another', state=RecordingState.STATE_READY))
    time.sleep(0.2)
    assert operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_PREPARING
    recorder.publish(RecordingState(episode_id=answer.episode_id, state=RecordingState.STATE_READY))
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_RUNNING, 'it runs')
    assert operator.call('EndEpisode', lease_id=lease_id, outcome=EpisodeState.OUTCOME_DISCARDED).ok
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_ENDING, 'it ends')
    recorder.publish(RecordingState(episode_id=answer.episode_id, state=RecordingState.STATE_SAVED))
    until(lambda: operator.newest(topics.EPISODE).phase == EpisodeState.PHASE_ENDED, 'it is saved')
    assert operator.newest(topics.EPISODE).outcome == EpisodeState.OUTCOME_DISCARDED


def test_a_fault_of_one_workcell_holds_it_alone(operator, host):
    operator.listen(topics.CONTROL_STEP, 'env_1')
    host.plants['env_0'].faults = ('joint 3 reports an over-current',)
    until(lambda: part(operator).hold_reason == PartStep.HOLD_FAULT, 'it holds')
    other = until(lambda: operator.newest(topics.CONTROL_STEP, 'env_1'), 'the other ticks')
    assert other.parts[0].hold_reason == PartStep.HOLD_NO_LEASE


def test_a_tick_that_fails_is_told_and_the_next_comes(operator, host):
    plant = host.plants['env_0']
    broken = plant.advance
    plant.advance = lambda: 1 / 0
    told = until(lambda: (s := operator.newest(topics.CONTROL_STATE)).faults and s, 'the fault is told')
    assert 'division by zero' in told.faults[0] and told.hold_reason == PartStep.HOLD_FAULT
    plant.advance = broken
    step = operator.newest(topics.CONTROL_STEP).step
    until(lambda: operator.newest(topics.CONTROL_STEP).step > step + 3, 'ticks go on')
    until(lambda: not operator.newest(topics.CONTROL_STATE).faults, 'the fault is over')


def test_services_refuse_in_words(operator):
    assert 'env_0, env_1' in operator.call('Home', workcell_id='env_9').reason
    assert 'take control first' in operator.call('StartEpisode', lease_id='x').reason
    lease_id = take_control(operator)
    assert 'there are raise' in operator.call('StartEpisode', lease_id=lease_id, task='fly').reason
    assert 'speed_scale' in operator.call('Home', lease_id=lease_id, speed_scale=0.0).reason
    assert 'authority is 7' in operator.call('SetAuthority', lease_id=lease_id, authority=7).reason
    assert 'front' in operator.call('SetCamera', camera='back').reason


def test_home_drives_home(operator):
    lease_id = take_control(operator)
    start = part(operator).pose.position.z
    drive_until(operator, lease_id, lambda: part(operator).pose.position.z > start + 0.05, 'away from home')
    assert operator.call('Home', lease_id=lease_id, speed_scale=1.0).ok
    until(lambda: part(operator).authority == ControlStep.AUTHORITY_HOMING, 'homing')
    until(lambda: part(operator).pose.position.z == pytest.approx(0.2, abs=1e-6), 'home')


def test_pictures_are_made_only_while_watched(operator, host):
    taken = []
    capture = host.plants['env_0'].capture
    host.plants['env_0'].capture = lambda camera, size: taken.append(camera) or capture(camera, size)
    time.sleep(0.3)
    assert not taken
    operator.listen(topics.video('front'))
    frame = until(lambda: operator.newest(topics.video('front')), 'video')
    row = until(
        lambda: next((r for r in operator.heard[('control_step', 'env_0')] if r.frames), None), 'a row names a frame'
    )
    stamps = {(r.header.stamp.sec, r.header.stamp.nanosec) for r in operator.heard[('control_step', 'env_0')]}
    assert (row.frames[0].stamp.sec, row.frames[0].stamp.nanosec) in stamps
    assert frame.format == 'h264'


class VideoSizes:
    """Decodes a camera's video and tells the size of the newest picture."""

    def __init__(self, operator, camera='front'):
        operator.listen(topics.video(camera))
        self.heard = operator.heard[(topics.video(camera).name, 'env_0')]
        self.decoder = av.CodecContext.create('h264', 'r')
        self.decoded = 0
        self.newest = None
        self.undecodable = 0

    def __call__(self):
        while self.decoded < len(self.heard):
            frames = self.decoder.decode(av.Packet(bytes(self.heard[self.decoded].data)))
            self.decoded += 1
            self.undecodable += len(frames) != 1
            self.newest = (frames[-1].width, frames[-1].height) if frames else None
        return self.newest


def test_a_camera_changes_its_size_and_bit_rate_while_it_runs(operator):
    size = VideoSizes(operator)
    until(lambda: size() == (320, 240), 'video')
    answer = operator.call('SetCamera', camera='front', enabled=True, width=160, height=120, kbit_s=300)
    assert answer.ok, answer.reason
    until(lambda: size() == (160, 120), 'the small video')
    assert operator.call('SetCamera', camera='front', enabled=True, width=320, height=240, kbit_s=9000).ok
    until(lambda: size() == (320, 240), 'the large video')
    assert size.undecodable == 0, 'each change begins with a key frame'


def test_an_episode_is_filmed_in_full_size_however_poor_the_link(operator):
    size = VideoSizes(operator)
    assert operator.call('SetCamera', camera='front', enabled=True, width=160, height=120, kbit_s=1).ok
    until(lambda: size() == (160, 120), 'the small video')
    lease_id = take_control(operator)
    begun = operator.call('StartEpisode', lease_id=lease_id)
    assert begun.ok, begun.reason
    until(lambda: size() == (320, 240), 'full size in the episode')
    assert operator.call('SetCamera', camera='front', enabled=True, width=200, height=150).ok
    before = size.decoded
    until(lambda: size() and size.decoded > before + 5, 'more video')
    assert size.newest == (320, 240)
    assert operator.call('EndEpisode', lease_id=lease_id, outcome=EpisodeState.OUTCOME_ABORTED).ok
    until(lambda: size() == (200, 150), 'the size that was asked for meanwhile')


@pytest.mark.parametrize(('width', 'height'), [(640, 480), (320, 300), (100, 75), (2**32 - 1, 0)])
def test_sizes_that_a_camera_cannot_have_are_refused(operator, width, height):
    answer = operator.call('SetCamera', camera='front', enabled=True, width=width, height=height)
    assert not answer.ok and '320x240 at most' in answer.reason


def test_a_small_video_is_full_again_when_its_viewers_have_gone(operator, monkeypatch):
    monkeypatch.setattr(video_wishes, 'WISHES_LAST_S', 0.2)
    topic = topics.video('front')
    size = VideoSizes(operator)
    until(lambda: size() == (320, 240), 'video')
    assert operator.call('SetCamera', camera='front', enabled=True, width=160, height=120).ok
    until(lambda: size() == (160, 120), 'the small video')
    for subscription in list(operator.node.subscriptions):
        if subscription.topic_name == topic.absolute('env_0'):
            operator.node.destroy_subscription(subscription)
    until(lambda: operator.node.count_subscribers(topic.absolute('env_0')) == 0, 'nobody watches')
    time.sleep(0.6)
    again = VideoSizes(operator)
    again.decoded = len(again.heard)
    until(lambda: again() == (320, 240), 'full size')


def test_a_second_host_that_came_later_is_told_as_long_as_it_ticks(host, operator):
    def told():
        return any("a second host serves 'env_0'" in fault for fault in operator.newest(topics.CONTROL_STATE).faults)

    stranger = rclpy.create_node('stranger')
    try:
        second = create_publisher(stranger, topics.CONTROL_STEP, 'env_0')
        end = time.monotonic() + WAIT_S
        while not told():
            second.publish(ControlStep(workcell_id='env_0'))
            time.sleep(0.05)
            assert time.monotonic() < end
        until(lambda: not told(), 'the fault is over')
    finally:
        stranger.destroy_node()


def test_a_name_that_is_served_already_is_refused(host, operator):
    second = HostNode('second_host')
    try:
        with pytest.raises(ServedAlreadyError, match="serves 'env_1' in ROS domain"):
            second.host({'lab': IdealPlant(), 'env_1': IdealPlant()}, HostOptions())
    finally:
        second.close()
        second.destroy_node()


@pytest.mark.parametrize('who', ['Ann\n', 'x' * 400, ''])
def test_a_stop_stops_whatever_is_said_with_it(operator, who):
    assert operator.call('EmergencyStop', who=who).ok
    until(lambda: part(operator).hold_reason == PartStep.HOLD_EMERGENCY_STOP, 'the stop')
    assert operator.call('ClearEmergencyStop', who='Ann', confirm=True).ok
