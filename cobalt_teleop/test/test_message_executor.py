"""The executor that many messages wake hands over every message, and runs what other threads post."""

import threading
import time

import pytest
import rclpy
from ros_operator import until

from cobalt_interfaces.msg import RecordingState
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher, create_subscription
from cobalt_teleop.ros.executor_calls import ExecutorCalls
from cobalt_teleop.ros.message_executor import message_executor


@pytest.fixture
def node(private_ros_domain):
    rclpy.init()
    made = rclpy.create_node('listener')
    executor = message_executor()
    executor.add_node(made)
    ended = threading.Event()

    def spin():
        while not ended.is_set():
            executor.spin_once(timeout_sec=0.2)

    made.spinner = threading.Thread(target=spin)
    made.spinner.start()
    yield made
    ended.set()
    made.spinner.join()
    executor.shutdown(timeout_sec=2.0)
    made.destroy_node()
    rclpy.try_shutdown()


def test_messages_come_to_endpoints_that_open_and_close_while_it_spins(node):
    calls = ExecutorCalls(node)
    heard, subscriptions = [], []
    publisher = create_publisher(node, topics.RECORDING, 'env_0')

    def open_one():
        subscriptions.append(
            create_subscription(node, topics.RECORDING, 'env_0', lambda message: heard.append(message.episode_id))
        )

    for name in ('a', 'b'):
        heard.clear()
        calls.post(open_one)
        until(lambda: publisher.get_subscription_count() == 1, 'the subscription')
        publisher.publish(RecordingState(episode_id=name))
        until(lambda name=name: name in heard, 'the message')
        calls.post(lambda: node.destroy_subscription(subscriptions.pop()))
        until(lambda: publisher.get_subscription_count() == 0, 'its end')


def test_a_hidden_subscription_keeps_its_messages_for_who_takes_them(node):
    calls = ExecutorCalls(node)
    opened = []
    publisher = create_publisher(node, topics.RECORDING, 'env_0')
    calls.post(lambda: opened.append(TakenSubscription(node, topics.RECORDING, 'env_0', hidden=True)))
    until(lambda: publisher.get_subscription_count() == 1, 'the subscription')
    publisher.publish(RecordingState(episode_id='a'))
    taken = until(lambda: opened[0].take(), 'the message')
    assert taken[0].episode_id == 'a'
    calls.post(opened[0].close)
    until(lambda: publisher.get_subscription_count() == 0, 'its end')


def test_posted_calls_run_in_their_order_and_on_its_thread_until_the_end(node):
    calls, done = ExecutorCalls(node), []
    for number in range(200):
        calls.post(lambda number=number: done.append((number, threading.current_thread())))
    until(lambda: len(done) == 200, 'all calls')
    assert done == [(number, node.spinner) for number in range(200)]
    calls.close()
    calls.post(lambda: done.append(None))
    time.sleep(0.1)
    assert done[-1] is not None
