"""The `cobalt` command: its subcommands come from all packages, by the entry point group `cobalt.commands`."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

GROUP = 'cobalt.commands'


def _commands() -> list[EntryPoint]:
    """Subcommands, each once: a workspace on top of another may announce one twice."""
    found = {entry.name: entry for entry in reversed(list(entry_points(group=GROUP)))}
    return [found[name] for name in sorted(found)]


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `cobalt`.

    Returns:
        The exit code: that of the subcommand, 2 for wrong usage.
    """
    try:
        try:
            return _run(argv)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has seen enough.
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        what = f'{error.filename} cannot be used' if error.filename else 'the output cannot be written'
        print(f'cobalt: {what}: {error.strerror or error}', file=sys.stderr)
        return 1


def _drop_output() -> None:
    """Lets what is still to be printed go nowhere, or Python would try again, and complain, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(argv: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(prog='cobalt', description='Cobalt: teleoperation of robot arms over ROS 2.')
    subparsers = parser.add_subparsers(title='commands', metavar='COMMAND')
    for entry in _commands():
        try:
            command = entry.load()
        except ImportError as error:
            print(f"cobalt: command '{entry.name}' is left out: {error}", file=sys.stderr)
            continue
        command.add_parser(subparsers)
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        hint = options.hint(unknown) if hasattr(options, 'hint') else ''
        parser.error(f'unrecognized arguments: {" ".join(unknown)}{f"; {hint}" if hint else ""}')
    if not hasattr(options, 'func'):
        parser.print_help()
        return 0
    return int(options.func(options))


if __name__ == '__main__':
    sys.exit(main())
