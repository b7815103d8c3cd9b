"""The pictures of what is to be done over HTTP: for whoever is in, by the key of his page."""

from aiohttp import ETag, web

from cobalt_teleop.bridge.door.door import Door
from cobalt_teleop.bridge.door.visitor import visitor_of
from cobalt_teleop.bridge.operators.lobby import Lobby

_FOR_SESSIONS = 'Pictures are for pages that are in.\n'
_NONE = 'There is no picture.\n'


class GoalPictures:
    """Answers `/goal/<workcell>`.

    Args:
        lobby: Knows the sessions, and the workcells with their pictures.
        door: Knows whose invitation was revoked.
    """

    def __init__(self, lobby: Lobby, door: Door) -> None:
        self._lobby = lobby
        self._door = door

    async def serve(self, request: web.Request) -> web.Response:
        """Sends a picture, unless the browser has it."""
        guest = self._lobby.guest_of(visitor_of(request).token)
        if guest is None or not self._door.is_still_welcome(guest):
            return web.Response(status=401, text=_FOR_SESSIONS, headers={'WWW-Authenticate': 'Bearer'})
        room = self._lobby.floor.find(request.match_info['workcell'])
        picture = room.goal if room is not None else None
        if picture is None:
            return web.Response(status=404, text=_NONE)
        has_it = any(tag.value in (picture.version, '*') for tag in request.if_none_match or ())
        response = (
            web.Response(status=304) if has_it else web.Response(body=picture.data, content_type=picture.content_type)
        )
        response.etag = ETag(picture.version)
        response.headers['Cache-Control'] = 'private, no-cache'
        return response
