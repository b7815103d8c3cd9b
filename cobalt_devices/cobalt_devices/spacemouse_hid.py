"""SpaceMice that are plugged into this machine, through hidapi: no root, and no hook into the desktop.

hidapi's back end hidraw is taken, as the kernel's own driver keeps the device then.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from cobalt_devices.spacemouse_models import model_of
from cobalt_devices.spacemouse_reports import SpaceMouseState, together
from cobalt_teleop.core.errors import CobaltError

_RULE = '70-cobalt-spacemouse.rules'
_LONGEST_REPORT = 64
_READ_S = 0.005


class SpaceMouseError(CobaltError):
    """A SpaceMouse cannot be used; the message says what to do."""


class SpaceMouseLostError(CobaltError):
    """A SpaceMouse was unplugged."""


@dataclass(frozen=True)
class PluggedIn:
    """An interface of a SpaceMouse, or of a receiver, that is plugged in.

    Attributes:
        path: Of its device file.
        name: Of the model.
    """

    path: bytes
    name: str

    @property
    def file(self) -> str:
        """Its device file, for people."""
        return os.fsdecode(self.path)

    def may_open(self) -> bool:
        """Returns whether this user may read it and write to it."""
        return os.access(self.path, os.R_OK | os.W_OK)


def udev_rule() -> Path:
    """Returns where the udev rule is that lets a user open SpaceMice."""
    try:
        return Path(get_package_share_directory('cobalt_devices')) / 'udev' / _RULE
    except (PackageNotFoundError, ValueError):
        return Path('udev') / _RULE


def how_to_allow() -> str:
    """Returns the command that installs the udev rule, in a sentence."""
    return (
        f'Install the rule, once: sudo cp {udev_rule()} /etc/udev/rules.d/ && sudo udevadm control --reload && '
        'sudo udevadm trigger --subsystem-match=hidraw --subsystem-match=usb. Then unplug it and plug it in again.'
    )


def hidapi() -> Any:
    """Returns hidapi's module for hidraw.

    Raises:
        SpaceMouseError: It is not installed.
    """
    try:
        return import_module('hidraw')
    except ImportError as error:
        raise SpaceMouseError(f'a SpaceMouse needs hidapi: pip install hidapi ({error})') from error


def plugged_in() -> list[PluggedIn]:
    """Returns the SpaceMice of this machine, whether this user may open them or not."""
    found = []
    for entry in hidapi().enumerate():
        name = model_of(entry['vendor_id'], entry['product_id'], entry['usage_page'], entry['usage'])
        if name is not None:
            found.append(PluggedIn(bytes(entry['path']), name))
    return sorted(set(found), key=lambda one: one.path)


class OpenSpaceMouse:
    """SpaceMice that are open: all that were plugged in, as one.

    Args:
        interfaces: Of `plugged_in`; at least one.

    Raises:
        SpaceMouseError: None could be opened.
    """

    def __init__(self, interfaces: Sequence[PluggedIn]) -> None:
        self._states: dict[bytes, SpaceMouseState] = {}
        self._devices: dict[bytes, Any] = {}
        self.name = ''
        """Of the model."""
        refused = None
        for interface in interfaces:
            device = hidapi().device()
            try:
                device.open_path(interface.path)
            except OSError:
                refused = interface
                continue
            device.set_nonblocking(1)
            self._devices[interface.path] = device
            self._states[interface.path] = SpaceMouseState()
            self.name = self.name or interface.name
        if not self._devices:
            assert refused is not None
            raise SpaceMouseError(f'the {refused.name} at {refused.file} may not be opened. {how_to_allow()}')

    def read(self, timeout_s: float) -> SpaceMouseState | None:
        """Waits for what it says next.

        Args:
            timeout_s: At most so long [s].

        Returns:
            The state after all reports that have come; None if none came.

        Raises:
            SpaceMouseLostError: It was unplugged.
        """
        heard = False
        end_s = time.monotonic() + timeout_s
        while not heard and (left_s := end_s - time.monotonic()) > 0.0:
            # One can wait for one alone; several take turns.
            wait_s = left_s if len(self._devices) == 1 else min(left_s, _READ_S)
            for path, device in self._devices.items():
                heard |= self._take_all(path, device, wait_s)
        return together(self._states.values()) if heard else None

    def close(self) -> None:
        """Closes them."""
        for device in self._devices.values():
            device.close()

    def _take_all(self, path: bytes, device: Any, wait_s: float) -> bool:
        try:
            report = device.read(_LONGEST_REPORT, max(1, round(wait_s * 1e3)))
            if not report:
                return False
            while report:
                self._states[path] = self._states[path].after(bytes(report))
                report = device.read(_LONGEST_REPORT)
        except (OSError, ValueError) as error:
            raise SpaceMouseLostError(str(error)) from error
        return True
