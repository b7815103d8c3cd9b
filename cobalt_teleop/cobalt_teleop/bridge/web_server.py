"""The HTTP side of the bridge: pages, signalling and health on one port."""

from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from cobalt_teleop.bridge.door.loopback import is_own_host, is_own_origin
from cobalt_teleop.bridge.operators.lobby import Lobby
from cobalt_teleop.bridge.wire.page_messages import MAX_SIGNAL_BYTES, PageMessageError, parse_signal

HEARTBEAT_S = 5.0
HELLO_TIMEOUT_S = 10.0

_HEADERS = {
    'Content-Security-Policy': (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
}

_TYPES = {'.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html', '.svg': 'image/svg+xml'}


def build_app(lobby: Lobby) -> web.Application:
    """Returns the application that serves a lobby's pages."""
    app = web.Application(middlewares=[_guard], client_max_size=MAX_SIGNAL_BYTES)
    pages = resources.files('cobalt_teleop.bridge') / 'web'
    for entry in sorted(pages.iterdir(), key=lambda entry: entry.name):
        suffix = '.' + entry.name.rpartition('.')[2]
        if entry.is_file() and suffix in _TYPES:
            app.router.add_get('/' if entry.name == 'index.html' else f'/{entry.name}', _page(entry, _TYPES[suffix]))

    async def health(request: web.Request) -> web.Response:
        return web.json_response(lobby.health())

    async def signalling(request: web.Request) -> web.StreamResponse:
        return await _signalling(request, lobby)

    app.router.add_get('/healthz', health)
    app.router.add_get('/ws', signalling)
    return app


def _page(entry: Any, content_type: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def serve(request: web.Request) -> web.Response:
        caching = 'no-store' if content_type == 'text/html' else 'no-cache'
        return web.Response(
            body=entry.read_bytes(), content_type=content_type, charset='utf-8', headers={'Cache-Control': caching}
        )

    return serve


@web.middleware
async def _guard(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> Any:
    if not is_own_host(request.host):
        return web.Response(status=403, text='This server answers to the names of its own machine alone.\n')
    if not is_own_origin(request.headers.get('Origin'), request.host):
        return web.Response(status=403, text='Pages of another origin may not use this server.\n')
    try:
        response = await handler(request)
    except web.HTTPException as refused:
        refused.headers.update(_HEADERS)
        raise
    if not response.prepared:
        response.headers.update(_HEADERS)
    return response


async def _signalling(request: web.Request, lobby: Lobby) -> web.StreamResponse:
    upgrade = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MAX_SIGNAL_BYTES)
    if not upgrade.can_prepare(request).ok:
        return web.Response(status=426, text='This address is for the WebSocket of the page.\n')
    await upgrade.prepare(request)
    try:
        first = await upgrade.receive(timeout=HELLO_TIMEOUT_S)
        hello = parse_signal(first.data if first.type == WSMsgType.TEXT else '')
        if hello.type != 'hello':
            raise PageMessageError(f"the first message must be 'hello', not '{hello.type}'")
    except (PageMessageError, TimeoutError) as error:
        if not upgrade.closed:
            await upgrade.send_json({'type': 'error', 'text': str(error) or 'no hello came'})
            await upgrade.close(code=WSCloseCode.POLICY_VIOLATION)
        return upgrade
    session = await lobby.admit(upgrade, hello)
    try:
        async for message in upgrade:
            if message.type == WSMsgType.TEXT:
                session.on_signal(message.data)
            else:
                await upgrade.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b'text alone')
    finally:
        await lobby.dismiss(session, upgrade)
    return upgrade
