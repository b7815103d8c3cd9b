"""Calls to a host: answers that come late, come lost, or say no."""

import asyncio
from types import SimpleNamespace

import pytest

from cobalt_teleop.bridge import host_services
from cobalt_teleop.bridge.host_services import HostServices, ServiceError


class Client:
    """A client whose answers come when the test says."""

    def __init__(self):
        self.asked = []

    def service_is_ready(self):
        return True

    def call_async(self, request):
        callbacks = []
        self.asked.append((request, callbacks))
        return SimpleNamespace(add_done_callback=callbacks.append)

    def answer(self, number, **fields):
        response = SimpleNamespace(**({'ok': True, 'reason': ''} | fields))
        done = SimpleNamespace(result=lambda: response, exception=lambda: None)
        for callback in self.asked[number][1]:
            callback(done)


class AtOnce:
    def post(self, call):
        call()


def run(scenario):
    """Runs a scenario with services whose clients are doubles."""

    async def prepared():
        client = Client()
        node = SimpleNamespace(create_client=lambda kind, name: client)
        services = HostServices(node, AtOnce(), asyncio.get_running_loop(), 'sim')
        await scenario(services, client)

    asyncio.run(asyncio.wait_for(prepared(), 20.0))


async def until_asked(client, times):
    while len(client.asked) < times:
        await asyncio.sleep(0.01)


def test_an_answer_to_any_time_of_asking_counts(monkeypatch):
    monkeypatch.setattr(host_services, 'REPEAT_S', 0.05)

    async def scenario(services, client):
        stop = asyncio.ensure_future(services.call('EmergencyStop', 10.0, workcell_id='env_0', who='Ada'))
        await until_asked(client, 3)
        client.answer(0)
        assert (await stop).ok
        assert all(request.who == 'Ada' for request, _ in client.asked)

    run(scenario)


def test_what_must_not_be_done_twice_is_asked_once(monkeypatch):
    monkeypatch.setattr(host_services, 'REPEAT_S', 0.02)

    async def scenario(services, client):
        start = asyncio.ensure_future(services.call('StartEpisode', 10.0, workcell_id='env_0'))
        await until_asked(client, 1)
        await asyncio.sleep(0.2)
        assert len(client.asked) == 1
        client.answer(0, ok=False, reason='Bo holds control')
        with pytest.raises(ServiceError, match='Bo holds control'):
            await start

    run(scenario)


def test_silence_is_told_and_an_answer_after_it_harms_nobody():
    async def scenario(services, client):
        with pytest.raises(ServiceError, match=r'the host sim did not answer within 0\.1 s'):
            await services.call('Home', 0.1, workcell_id='env_0')
        client.answer(0)
        await asyncio.sleep(0.02)

    run(scenario)
