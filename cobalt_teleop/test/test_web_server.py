"""The HTTP side of the bridge, without a bridge."""

import asyncio

from aiohttp import web
from aiohttp.http import HttpVersion11, RawRequestMessage
from multidict import CIMultiDict, CIMultiDictProxy

from cobalt_teleop.bridge.web_server import give_every_request_a_target


def test_a_request_without_a_target_gets_one_that_leads_nowhere():
    async def scenario():
        runner = web.AppRunner(web.Application())
        await runner.setup()
        try:
            server, made = runner.server, []
            server.request_factory = lambda message, *rest: made.append(message.url)
            give_every_request_a_target(server)
            headers = CIMultiDictProxy(CIMultiDict())
            message = RawRequestMessage('CONNECT', '', HttpVersion11, headers, (), True, None, False, False, None)
            server.request_factory(message, None)
            assert made[0].path == '/no-target'
        finally:
            await runner.cleanup()

    asyncio.run(scenario())
