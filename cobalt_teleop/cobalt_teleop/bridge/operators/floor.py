"""The workcells that there are, each with its room."""

import asyncio
from collections.abc import Callable

from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.ros_side import RosSide


class Floor:
    """Rooms by the names of their workcells. Lives in the event loop.

    Args:
        ros: Knows which there are, and opens them.
        on_control: Called when control of one has changed.
        on_frame: Told how old each frame is when it comes [s].
    """

    def __init__(self, ros: RosSide, on_control: Callable[[], None], on_frame: Callable[[float], None]) -> None:
        self._ros = ros
        self._on_control = on_control
        self._on_frame = on_frame
        self._rooms: dict[str, Room] = {}
        self._present: tuple[str, ...] = ()

    @property
    def present(self) -> list[Room]:
        """Workcells that exist, in the order of their names."""
        return [self._rooms[name] for name in self._present]

    @property
    def tasks(self) -> list[str]:
        """What can be done at any of the workcells that exist."""
        return sorted({task for room in self.present for task in room.info.tasks})

    @property
    def rooms(self) -> list[Room]:
        """All workcells that have existed since the start."""
        return [self._rooms[name] for name in sorted(self._rooms, key=_natural)]

    def find(self, workcell_id: str) -> Room | None:
        """Returns a workcell that exists."""
        return self._rooms[workcell_id] if workcell_id in self._present else None

    def announce(self, info: WorkcellInfo) -> Room:
        """A workcell has announced itself, or changed; returns its room."""
        room = self._rooms.get(info.workcell_id)
        if room is None:
            room = self._rooms[info.workcell_id] = Room(info, self._ros, self._on_control, self._on_frame)
        elif room.update_info(info):
            asyncio.get_running_loop().create_task(_reopen(room))
        return room

    def look(self) -> bool:
        """Notes which workcells exist now; returns whether they are others than before."""
        present = tuple(name for name in sorted(self._rooms, key=_natural) if self._ros.exists(name))
        for name in set(self._present) - set(present):
            self._rooms[name].forget_control()
        changed, self._present = present != self._present, present
        return changed

    def close(self) -> None:
        """Closes all rooms."""
        for room in self._rooms.values():
            room.close()


async def _reopen(room: Room) -> None:
    visitors = room.visitors
    room.close()
    for visitor in visitors:
        await visitor.enter(room, anew=True)


def _natural(name: str) -> tuple[str, int]:
    stem = name.rstrip('0123456789')
    digits = name[len(stem) :]
    return stem, int(digits) if digits else -1
