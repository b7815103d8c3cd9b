"""The first message of a WebSocket: who it is that comes."""

import secrets
from collections.abc import Callable
from dataclasses import replace

from aiohttp import WSMsgType, web

from cobalt_teleop.bridge.wire.page_messages import KEY_DIGITS, PageMessage, PageMessageError


async def first_message(
    upgrade: web.WebSocketResponse, kind: str, parse: Callable[[str], PageMessage], timeout_s: float
) -> PageMessage:
    """Waits for the first message of a page. One that brings no key of its own gets one: its `session`.

    Args:
        upgrade: Its WebSocket.
        kind: Type that it has to be of.
        parse: Reads a message.
        timeout_s: How long it is waited for [s].

    Raises:
        PageMessageError: None came in time, or another one.
    """
    try:
        received = await upgrade.receive(timeout=timeout_s)
    except TimeoutError as error:
        raise PageMessageError(f"no message '{kind}' came") from error
    message = parse(received.data if received.type == WSMsgType.TEXT else '')
    if message.type != kind:
        raise PageMessageError(f"the first message must be '{kind}', not '{message.type}'")
    if len(message['session']) == KEY_DIGITS:
        return message
    return replace(message, fields={**message.fields, 'session': secrets.token_hex(KEY_DIGITS // 2)})
