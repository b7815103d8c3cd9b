"""Starts, ends, labels and resets the episode of a workcell for its operator."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any, Protocol

from cobalt_interfaces.msg import EpisodeState
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.operators.room import Room

OUTCOMES = {
    'success': EpisodeState.OUTCOME_SUCCESS,
    'failure': EpisodeState.OUTCOME_FAILURE,
    'aborted': EpisodeState.OUTCOME_ABORTED,
    'discarded': EpisodeState.OUTCOME_DISCARDED,
}
_RUNNING = (EpisodeState.PHASE_PREPARING, EpisodeState.PHASE_RUNNING, EpisodeState.PHASE_PAUSED)


class CallService(Protocol):
    """Calls a service of the workcell's host."""

    def __call__(self, service: str, **fields: Any) -> Awaitable[Any]:
        """Returns the answer, or raises ServiceError with the reason."""


class EpisodeRequests:
    """What a page asks of the episode.

    Args:
        call: Calls the host.
        timeout_s: How long an episode may take to end before a reset gives up [s].
        require_recording: Refuse to start an episode that nobody records.
    """

    def __init__(self, call: CallService, *, timeout_s: float, require_recording: bool) -> None:
        self._call = call
        self._timeout_s = timeout_s
        self._require_recording = require_recording

    async def start(self, room: Room, lease_id: str, operator: str, task: str, *, practice: bool = False) -> None:
        """Starts an episode; it is recorded if a recorder is there, and if it is no practice.

        Args:
            room: Of the workcell.
            lease_id: Of the holder.
            operator: Name shown to others.
            task: Empty for the workcell's own.
            practice: Nothing of it is recorded.

        Raises:
            ServiceError: With the reason.
        """
        recorder = room.endpoints is not None and room.endpoints.recorder_is_there()
        await self._call(
            'StartEpisode',
            lease_id=lease_id,
            operator_id=operator,
            task=task,
            require_recording=self._require_recording or recorder,
            practice=practice,
        )

    async def end(self, room: Room, lease_id: str, operator: str, outcome: str) -> None:
        """Ends the running episode with an outcome, or labels the one that has ended.

        Raises:
            ServiceError: With the reason.
        """
        episode = room.episode
        if episode is None:
            raise ServiceError('there is no episode')
        if episode.phase in _RUNNING:
            await self._call('EndEpisode', lease_id=lease_id, outcome=OUTCOMES[outcome])
        else:
            await self._call(
                'LabelEpisode',
                episode_id=episode.episode_id,
                outcome=OUTCOMES[outcome],
                outcome_source=EpisodeState.OUTCOME_SOURCE_OPERATOR,
                labelled_by=operator,
            )

    async def reset(self, room: Room, lease_id: str, operator: str, task: str) -> None:
        """Ends the running episode as aborted, waits until it is saved, and starts another like it.

        Raises:
            ServiceError: With the reason.
        """
        practice = room.episode is not None and room.episode.practice
        if room.episode is not None and room.episode.phase in _RUNNING:
            await self.end(room, lease_id, operator, 'aborted')
        deadline_s = time.monotonic() + self._timeout_s
        while room.episode is not None and room.episode.phase in (*_RUNNING, EpisodeState.PHASE_ENDING):
            try:
                await asyncio.wait_for(room.episode_changed.wait(), deadline_s - time.monotonic())
            except TimeoutError as error:
                raise ServiceError('the episode before did not end in time') from error
        await self.start(room, lease_id, operator, task, practice=practice)
