"""Asks a workcell's host for the video that the link of its leading viewer carries. Lives in the event loop."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from cobalt_interfaces.msg import CameraDescription
from cobalt_teleop.bridge.media.adaptation import FilmedCamera, SeenCamera, VideoAdaptation, VideoSetting
from cobalt_teleop.bridge.wire.page_messages import PageMessage
from cobalt_teleop.core.errors import CobaltError

TOP_KBIT_S = 6000
"""More is never asked for; a host has an upper bound of its own [kbit/s]."""


class AdaptiveVideo:
    """Follows the reports of one viewer at a time: who has control, or who came first.

    A slow spectator slows nobody: what does not reach him in time, he skips to the next key frame.

    Args:
        cameras: Of the workcell.
        ask: Calls SetCamera with these fields.
    """

    def __init__(self, cameras: Sequence[CameraDescription], ask: Callable[..., Awaitable[Any]]) -> None:
        filmed = {
            camera.name: FilmedCamera(width=camera.width, height=camera.height, rate_hz=camera.rate_hz)
            for camera in cameras
            if camera.enabled and camera.width and camera.height
        }
        self._policy = VideoAdaptation(filmed, TOP_KBIT_S)
        self._ask = ask
        self._tasks: set[asyncio.Task[None]] = set()

    def note(self, leader: str, report: PageMessage) -> None:
        """Takes the `stats` of the leading viewer's page."""
        seen = {
            camera.name: SeenCamera(
                fps=camera.fps,
                frame_age_ms=camera.frame_age_ms,
                kbit_s=camera.kbit_s,
                freezes=camera.freezes,
                shown_width=camera.shown_width,
            )
            for camera in report['cameras']
        }
        for name, setting in self._policy.note(leader, report['loss_down'], seen, time.monotonic()).items():
            task = asyncio.get_running_loop().create_task(self._set(name, setting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _set(self, camera: str, setting: VideoSetting) -> None:
        try:
            await self._ask(
                camera=camera, enabled=True, width=setting.width, height=setting.height, kbit_s=setting.kbit_s
            )
        except CobaltError:
            pass  # a host that is gone, or that cannot: what is wished is told again
