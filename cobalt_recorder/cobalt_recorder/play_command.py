"""`cobalt bag play`: a bag on ROS topics again, such as for Foxglove or RViz."""

import argparse
import json
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from cobalt_recorder.plain_text import plain_text
from cobalt_teleop.core.errors import CobaltError


def add_action(actions: Any) -> None:
    """Adds `play` to the command `cobalt bag`."""
    parser = actions.add_parser(
        'play',
        help='publish a bag on ROS topics again',
        description='Publishes the messages of a bag again with their recorded intervals, bytes and QoS; stamps '
        'in them stay as they were. What operators and policies commanded is left out unless asked for, so that no '
        'robot follows it by accident, and topics on which somebody publishes are refused. Ctrl-C ends it. Exit code: '
        '0, or 1 if it failed.',
    )
    parser.add_argument('path', type=Path, help='folder of a bag, or its .mcap file')
    parser.add_argument('--rate', type=_positive, default=1.0, metavar='X', help='times the recorded speed')
    parser.add_argument('--start', type=float, default=0.0, metavar='S', help='begin here, since the first message [s]')
    parser.add_argument('--topics', nargs='+', default=(), metavar='NAME', help='only these')
    parser.add_argument('--prefix', type=_prefix, default='', help='put in front of every topic, such as /replay')
    parser.add_argument('--loop', action='store_true', help='begin again at the end')
    parser.add_argument('--commands', action='store_true', help='commands of operators and policies, too')
    parser.add_argument('--json', action='store_true', help='print one JSON object at the end')
    parser.set_defaults(func=play_bag)


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value <= 100.0:
        raise argparse.ArgumentTypeError(f'{text} is not above 0 and at most 100')
    return value


def _prefix(text: str) -> str:
    if text and not re.fullmatch(r'(/[A-Za-z_][A-Za-z0-9_]*)+/?', text):
        raise argparse.ArgumentTypeError(f'{text} is no namespace such as /replay')
    return text


def play_bag(arguments: argparse.Namespace) -> int:
    """Plays; returns 0, or 1 if it failed."""
    # Only this action needs ROS 2, whose import takes a second.
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from cobalt_recorder.play import Player, PlayOptions

    options = PlayOptions(
        rate=arguments.rate,
        start_s=arguments.start,
        prefix=arguments.prefix.rstrip('/'),
        loop=arguments.loop,
        commands=arguments.commands,
        topics=tuple(arguments.topics),
    )
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('cobalt_bag_play')
    try:
        player = Player(node, arguments.path, options)
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task('playing', total=None if options.loop else player.total)
            count = player.play(stop, lambda done: bar.update(task, completed=done))
    except CobaltError as error:
        print(f'cobalt bag play: {plain_text(str(error))}', file=sys.stderr)
        return 1
    finally:
        node.destroy_node()
        rclpy.shutdown()
    if arguments.json:
        print(json.dumps({'path': str(arguments.path), 'messages': count, 'ended_early': stop.is_set()}))
    else:
        print(f'{count} messages played{", then ended" if stop.is_set() else ""}')
    return 0
