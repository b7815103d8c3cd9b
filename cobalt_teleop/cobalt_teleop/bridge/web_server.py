"""The HTTP side of the bridge: pages, signalling and health on one port."""

from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from aiohttp import web
from yarl import URL

from cobalt_teleop.bridge.door.entrance import Entrance
from cobalt_teleop.bridge.goal_pictures import GoalPictures
from cobalt_teleop.bridge.network.check_signalling import CheckSignalling
from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.operators.lobby import Lobby
from cobalt_teleop.bridge.reports import Reports
from cobalt_teleop.bridge.signalling import Signalling
from cobalt_teleop.bridge.wire.page_messages import MAX_SIGNAL_BYTES

_HEADERS = {
    'Content-Security-Policy': (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    'X-Content-Type-Options': 'nosniff',
    'Server': 'Cobalt',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
}

# A day, and no other name: a promise for a host holds for all its ports, and it has other servers.
_STAY_SECURE = 'max-age=86400'

_FOREIGN_NAME = (
    'This server does not know itself by that name. '
    "Whoever runs it can add a name that leads here by the parameter 'public_names'.\n"
)

_NOWHERE = URL('/no-target')

_TYPES = {'.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html', '.svg': 'image/svg+xml'}

_ADDRESSES = {'index.html': '/', 'check.html': '/check'}


def build_app(lobby: Lobby, entrance: Entrance, way: MediaWay) -> web.Application:
    """Returns the application that serves a lobby's pages to those whom the entrance lets in.

    Args:
        lobby: Where they go.
        entrance: Lets them in.
        way: How live media reaches them.
    """
    app = web.Application(middlewares=[_guard_of(entrance)], client_max_size=MAX_SIGNAL_BYTES)
    pages = resources.files('cobalt_teleop.bridge') / 'web'
    for folder, address in ((pages, '/'), (pages / 'devices', '/devices/')):
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            suffix = '.' + entry.name.rpartition('.')[2]
            if entry.is_file() and suffix in _TYPES:
                app.router.add_get(_ADDRESSES.get(entry.name, address + entry.name), _page(entry, _TYPES[suffix]))

    reports = Reports(lobby, entrance.door)
    signalling = Signalling(lobby, entrance.door, entrance.limits, entrance.log)
    app.cleanup_ctx.append(signalling.watch)
    app.router.add_get('/healthz', reports.health)
    app.router.add_get('/metrics', reports.metrics)
    app.router.add_get('/goal/{workcell:.+}', GoalPictures(lobby, entrance.door).serve)
    app.router.add_get('/ws', signalling.serve)
    app.router.add_get('/ws/check', CheckSignalling(entrance.door, entrance.limits, way).serve)
    return app


def give_every_request_a_target(server: web.Server) -> None:
    """Has a request without a target refused as others are: aiohttp 3.14 reads some such, and trips over them."""
    make = server.request_factory

    def make_request(message: Any, *rest: Any) -> web.BaseRequest:
        return make(message if message.url is not None else message._replace(url=_NOWHERE), *rest)

    server.request_factory = make_request


def _page(entry: Any, content_type: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def serve(request: web.Request) -> web.Response:
        caching = 'no-store' if content_type == 'text/html' else 'no-cache'
        return web.Response(
            body=entry.read_bytes(), content_type=content_type, charset='utf-8', headers={'Cache-Control': caching}
        )

    return serve


def _guard_of(entrance: Entrance) -> Any:
    headers = _HEADERS | ({'Strict-Transport-Security': _STAY_SECURE} if entrance.secure else {})

    @web.middleware
    async def guard(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> Any:
        if not entrance.names.is_own_host(request.host):
            response: web.StreamResponse = web.Response(status=403, text=_FOREIGN_NAME)
        elif not entrance.names.is_own_origin(request.headers.get('Origin'), request.host):
            response = web.Response(status=403, text='Pages of another origin may not use this server.\n')
        else:
            try:
                response = await handler(request)
            except web.HTTPException as refused:
                refused.headers.update(headers)
                raise
        if not response.prepared:
            response.headers.update(headers)
        return response

    return guard
