"""`cobalt bag play`, heard by a subscriber of the recorded types."""

import argparse
import json
import threading
import time

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from small_bag import LINK, STEPS, VIDEO, write_bag

from cobalt_interfaces.msg import ControlStep, TeleopCommand
from cobalt_recorder import bag_command
from cobalt_recorder.bag_reader import read_bag
from cobalt_recorder.play import PlayOptions, played_topics

COMMAND = '/env_0/arm/teleop_command'


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', 'play', *map(str, arguments)])
    return parsed.func(parsed)


@pytest.fixture
def heard():
    """The rows that were heard under /again."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('listener', context=context)
    rows = []
    node.create_subscription(ControlStep, '/again' + STEPS, rows.append, 100)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield rows
    executor.shutdown()
    thread.join()
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_a_bag_is_heard_again_in_its_order(tmp_path, heard, capsys):
    write_bag(tmp_path / 'one')
    assert run(tmp_path / 'one', '--rate', 10, '--prefix', '/again', '--start', 1, '--json') == 0
    assert json.loads(capsys.readouterr().out)['messages'] >= len(heard) > 0
    until_s = time.monotonic() + 5.0
    while len(heard) < 41 and time.monotonic() < until_s:
        time.sleep(0.02)
    assert [row.step for row in heard] == list(range(120, 161))


def test_commands_are_played_only_when_asked_for(tmp_path):
    write_bag(tmp_path / 'one', extra=[(COMMAND, 'cobalt_interfaces/msg/TeleopCommand', TeleopCommand(), 10**18)])
    bag = read_bag(tmp_path / 'one')
    assert {topic.name for topic in played_topics(bag, PlayOptions())} == {STEPS, VIDEO, LINK}
    assert COMMAND in {topic.name for topic in played_topics(bag, PlayOptions(commands=True))}
    assert [topic.name for topic in played_topics(bag, PlayOptions(topics=(COMMAND,)))] == [COMMAND]


def test_a_topic_that_somebody_publishes_is_refused(tmp_path, capsys):
    write_bag(tmp_path / 'one')
    context = rclpy.Context()
    rclpy.init(context=context)
    host = rclpy.create_node('a_host', context=context)
    host.create_publisher(ControlStep, STEPS, 10)
    assert run(tmp_path / 'one') == 1
    assert 'a_host publishes on /env_0/control_step already' in capsys.readouterr().err
    host.destroy_node()
    rclpy.shutdown(context=context)


def test_an_unknown_topic_is_one_sentence_with_those_that_there_are(tmp_path, capsys):
    write_bag(tmp_path / 'one')
    assert run(tmp_path / 'one', '--topics', '/none') == 1
    assert 'has no topic /none. It has: /env_0/camera/front/video' in capsys.readouterr().err
