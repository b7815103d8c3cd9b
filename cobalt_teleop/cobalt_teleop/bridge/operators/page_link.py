"""The link to one page: its two peer connections, what it is told, and what it asks for by itself."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from cobalt_teleop.bridge.media.peer import PeerError
from cobalt_teleop.bridge.media.session_media import SessionMedia
from cobalt_teleop.bridge.operators.page_pace import PagePace
from cobalt_teleop.bridge.operators.page_requests import Asker, PageRequests, Work
from cobalt_teleop.bridge.operators.page_voice import PageVoice
from cobalt_teleop.bridge.operators.reception import SessionRules
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.wire.page_messages import PageMessage


class PageLink:
    """Lives in the event loop. The page may change: `voice` and `media` serve whichever is there.

    Args:
        asker: Whose page it is.
        name: Of its connections, for the log.
        work: What is done for messages of its person, by type.
        room: Returns the workcell that it shows, if there is one.
        on_sample: Called with each message of the samples channel that is not too much.
        on_open: Called when the events channel opens.
        on_flood: Called once when the page speaks much too fast.
        rules: What all sessions keep.
        log: Writes a line to the node's log.
    """

    def __init__(
        self,
        asker: Asker,
        name: str,
        work: Mapping[str, Work],
        *,
        room: Callable[[], Room | None],
        on_sample: Callable[[str | bytes], None],
        on_open: Callable[[], None],
        on_flood: Callable[[], Awaitable[None]],
        rules: SessionRules,
        log: Callable[[str], None],
    ) -> None:
        self._room = room
        self._on_sample = on_sample
        self.media = SessionMedia(
            on_sample=self._take_sample,
            on_event=lambda data: self.requests.on_event(data),
            on_open=on_open,
            complain=lambda error: self.voice.complain(error),
            may_have_again=lambda fragments: self.requests.may_have_again(fragments),
            way=rules.way,
            name=name,
        )
        self.voice = PageVoice(self.media)
        of_pages: dict[str, Work] = {
            'ping': self._answer_ping,
            'answer': self._take_answer,
            'restart_control': lambda _: self._offer_control(),
            'restart_video': self._restart_video,
        }
        self.requests = PageRequests(
            asker, {**work, **of_pages}, self.voice, PagePace(rules.messages_per_s), on_flood, log
        )

    async def offer_media(self) -> None:
        """Makes the connections that there are not and sends their offers; none without a page or a workcell."""
        if self._may_offer:
            offers = []
            if not self.media.has_control:
                offers.append(self._offer_control())
            if not self.media.has_video:
                offers.append(self._offer_video())
            await asyncio.gather(*offers)
        else:
            await self.media.drop()

    @property
    def _may_offer(self) -> bool:
        return self._room() is not None and self.voice.connected

    async def _offer_control(self) -> None:
        if self._may_offer:
            self.voice.tell(await self.media.offer_control())

    async def _offer_video(self) -> None:
        room = self._room()
        if room is not None and self.voice.connected:
            offer = await self.media.offer_video(room)
            if offer is not None:
                self.voice.tell(offer)

    async def _restart_video(self, wish: PageMessage) -> None:
        self.media.wanted_road = wish['road']
        await self._offer_video()

    async def _take_answer(self, answer: PageMessage) -> None:
        try:
            await self.media.accept(answer['connection'], answer['number'], answer['sdp'])
        except PeerError as error:
            self.voice.notice(str(error))

    async def _answer_ping(self, _: PageMessage) -> None:
        self.voice.pong()

    def _take_sample(self, data: str | bytes) -> None:
        if self.requests.may_sample():
            self._on_sample(data)
