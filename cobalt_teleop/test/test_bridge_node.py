"""The bridge as a process, between a real host and pages that speak aiortc."""

import asyncio
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request

import aiohttp
import pytest
import rclpy
from bridge_process import RUN_BRIDGE, BridgeProcess, free_port, running_host
from page_client import PageClient
from ros_operator import Operator, until
from sensor_msgs.msg import CompressedImage

from cobalt_interfaces.msg import DeviceSample, RecordingState
from cobalt_teleop.core import topics
from cobalt_teleop.core.command import NOTHING_SHOWN_NS
from cobalt_teleop.core.keyboard_actions import BITS
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds

SAMPLES = topics.operator_sample('keyboard', 'arm')


@pytest.fixture
def ros(private_ros_domain):
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def host(ros):
    with running_host('env_0', 'env_1') as node:
        yield node


@pytest.fixture(scope='module')
def bridge(private_ros_domain):
    made = BridgeProcess(grace_s=1.0).wait_until_served()
    yield made
    output = made.stop()
    assert made.process.returncode == 0, output
    assert 'Traceback' not in output, output
    assert 'never retrieved' not in output, output


@pytest.fixture
def listener(ros):
    made = Operator('listener')
    yield made
    made.close()


def health(bridge):
    with urllib.request.urlopen(bridge.url + 'healthz', timeout=2.0) as answer:
        return json.load(answer)


def run(scenario):
    asyncio.run(asyncio.wait_for(scenario(), 50.0))


def test_a_page_gets_video_clock_and_every_state(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until_live()
            await page.until(lambda: page.samples and page.samples.readyState == 'open', 'the samples channel')
            for kind in (
                'session',
                'keyboard',
                'workcells',
                'workcell',
                'control',
                'episode',
                'step',
                'host',
                'viewers',
            ):
                await page.until_event(kind)
            assert {'env_0', 'env_1'} <= {entry['id'] for entry in page.newest('workcells')['list']}
            assert page.newest('step')['hold_text'] == 'nobody has control'
            page.ping()
            pong = await page.until(lambda: page.pongs and page.pongs[-1], 'the pong')
            assert pong['sent_ms'] - 5 <= pong['host_ms'] <= pong['received_ms'] + 5
            (camera,) = page.frames
            anchor = await page.until(lambda: page.anchors.get(camera), 'the anchor')
            age_ms = time.time() * 1000 - anchor['stamp_ms']
            assert -5 < age_ms < 5000

    run(scenario)


def test_a_page_whose_socket_alone_comes_anew_goes_on_without_a_gap(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until_live()
            await page.until(lambda: page.samples and page.samples.readyState == 'open', 'the samples channel')
            await page.say('acquire', ask=False)
            await page.until_event('control', yours=True)
            offered, known = dict(page.offers), len(page.events)
            page.hello |= {'session': page.key, 'live': [page.newest_offer['control'], page.newest_offer['video']]}
            old = page.socket
            await page.open_socket()
            assert (await old.receive_json())['type'] == 'replaced'
            await page.until(lambda: any(event['type'] == 'session' for event in page.events[known:]), 'its session')
            frames = page.frames['front'][-1]
            await page.until(lambda: page.frames['front'][-1] is not frames, 'the next picture')
            await page.until_event('control', yours=True)
            assert page.offers == offered, 'nothing was made anew'
            # A page that was loaded again has none of them.
            page.hello['live'] = [0, 0]
            await page.open_socket()
            await page.until(lambda: page.offers == {kind: count + 1 for kind, count in offered.items()}, 'offers')

    run(scenario)


def test_a_page_loads_the_picture_of_the_goal_anew_only_when_it_has_changed(ros, bridge):
    publishers = []

    def show(node, data):
        publishers.append(create_publisher(node, topics.GOAL_PICTURE, 'env_0'))
        publishers[-1].publish(CompressedImage(format='jpeg', data=data))

    async def scenario(node):
        async with PageClient(bridge.port, workcell='env_0') as page, aiohttp.ClientSession(bridge.url) as client:

            async def load(path='/goal/env_0', **headers):
                headers['Authorization'] = f'Bearer {page.key}'
                async with client.get(path, headers=headers) as answer:
                    return answer.status, answer.headers, await answer.read()

            await page.until_event('workcell')
            assert (await load())[0] == 404
            first, second = b'\xff\xd8\xff first', b'\x89PNG\r\n\x1a\n second'
            show(node, first)
            told = await page.until(lambda: (page.newest('goal') or {}).get('version'), 'the picture')
            status, headers, body = await load()
            assert (status, body, headers['Content-Type']) == (200, first, 'image/jpeg')
            assert headers['Cache-Control'] == 'private, no-cache'
            assert headers['ETag'] == f'"{told}"'
            assert headers['X-Content-Type-Options'] == 'nosniff'
            assert (await load(**{'If-None-Match': headers['ETag']}))[::2] == (304, b'')
            assert (await load('/goal/env_1'))[0] == 404, 'nobody is there'
            publishers[0].publish(CompressedImage(data=second))
            await page.until(lambda: page.newest('goal')['version'] != told, 'the change')
            assert (await load(**{'If-None-Match': headers['ETag']}))[::2] == (200, second)
            node.destroy_publisher(publishers[0])
            await page.until_event('goal', version='')
            assert (await load())[0] == 404

    with running_host('env_0', 'env_1') as node:
        run(lambda: scenario(node))


def test_video_restarts_beside_control_which_goes_on(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until_live()
            await page.until(lambda: page.samples and page.samples.readyState == 'open', 'the samples channel')
            samples = page.samples
            await page.connections['video'].close()
            page.frames.clear()
            await page.say('restart_video', road='track')
            page.ping()
            await page.until(lambda: page.pongs, 'the pong while there is no video')
            await page.until_live()
            assert page.offers == {'control': 1, 'video': 2}
            assert page.samples is samples and samples.readyState == 'open'

    run(scenario)


def test_one_subscription_serves_all_viewers_and_a_second_one_sees_a_picture_at_once(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as first:
            await first.until_live()
            (camera,) = first.frames
            topic = topics.video(camera).absolute('env_0')
            until(lambda: host.count_subscribers(topic), 'the subscription')
            subscriptions = {host.count_subscribers(topic)}
            async with (
                PageClient(bridge.port, workcell='env_0') as second,
                PageClient(bridge.port, workcell='env_0') as third,
            ):
                await second.until_live()
                await third.until_live()
                subscriptions.add(host.count_subscribers(topic))
                assert second.first_frame_s[camera] < 3.0, 'a group of pictures lasts 2 s, and so would waiting for it'
                assert first.newest('viewers')['count'] == 3
                before = health(bridge)['workcells']['env_0']['frames_received'][camera]
                seen = len(second.frames[camera])
                await asyncio.sleep(1.0)
                received = health(bridge)['workcells']['env_0']['frames_received'][camera] - before
                assert 15 <= received <= 25, 'each frame comes once'
                assert len(second.frames[camera]) >= min(50, seen + 10)
            assert subscriptions == {1}

    run(scenario)


def test_a_browser_without_h264_gets_vp8_which_others_share_and_the_rest_does_not_notice(host, bridge, listener):
    listener.listen(topics.LINK)

    def viewers(codec):
        return host.count_subscribers(topics.video('front', codec).absolute('env_0'))

    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as h264:
            await h264.until_live()
            assert (viewers('h264'), viewers('vp8')) == (1, 0)
            async with (
                PageClient(bridge.port, workcell='env_0', codecs=['vp8']) as page,
                PageClient(bridge.port, workcell='env_0', codecs=['vp8']) as another,
            ):
                await page.until_live()
                await another.until_live()
                assert (viewers('h264'), viewers('vp8')) == (1, 1), 'one stream of each codec for all pages'
                for one in (page, another):
                    frame = one.frames['front'][-1]
                    assert (frame.width, frame.height) == (320, 240)
                    assert 'VP8/90000' in one.connections['video'].remoteDescription.sdp
                    assert 'H264' not in one.connections['video'].remoteDescription.sdp
                assert (await page.until(lambda: page.anchors.get('front'), 'an anchor'))['stamp_ms'] > 0
                await page.say('acquire', ask=False)
                await page.until_event('control', yours=True)
                heard = listener.heard[('link', 'env_0')]
                await page.until(lambda: {'h264', 'vp8'} <= {stats.codec for stats in heard}, 'codecs in LinkStats')
            frames = len(h264.frames['front'])
            await h264.until(lambda: len(h264.frames['front']) > min(frames, 40), 'H.264 goes on')
            await h264.until(lambda: viewers('vp8') == 0, 'VP8 ends with its last viewer')

    run(scenario)


def test_endpoints_close_with_the_last_page(host, bridge):
    topic = topics.CONTROL_STEP.absolute('env_0')

    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until(lambda: host.count_subscribers(topic) == 1, 'the subscription')

    run(scenario)
    until(lambda: host.count_subscribers(topic) == 0, 'the end of the subscription')


def test_keys_reach_the_device_node_under_the_lease_with_stamps(host, bridge, listener):
    listener.listen(SAMPLES)

    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until_live()
            await page.until(lambda: page.samples and page.samples.readyState == 'open', 'the samples channel')
            page.keys(BITS['away'])
            await page.say('acquire', ask=False)
            control = await page.until_event('control', yours=True)
            assert control['holder'] == page.name
            (camera,) = page.frames
            anchor = await page.until(lambda: page.anchors.get(camera), 'the anchor')
            for _ in range(80):
                page.keys(BITS['away'], frame=[camera, anchor['rtp_timestamp']])
                await asyncio.sleep(0.01)
            page.keys(0, engaged=False, clock_offset_ms=9e9)
            await asyncio.sleep(0.2)
            return anchor, page.session

    anchor, session = asyncio.run(asyncio.wait_for(scenario(), 40.0))
    heard = listener.heard[(SAMPLES.name, 'env_0')]
    assert heard and all(sample.lease_id and sample.session_id == session for sample in heard), 'none without a lease'
    moving = [sample for sample in heard if sample.engaged]
    span_s = (to_nanoseconds(moving[-1].header.stamp) - to_nanoseconds(moving[0].header.stamp)) / 1e9
    assert 20 <= len(moving) <= 42 * span_s + 2, 'at most 40 a second pass'
    sequences = [sample.sequence for sample in heard]
    assert sequences == sorted(set(sequences))
    sample = moving[-1]
    assert (sample.kind, sample.buttons, sample.clutch_epoch) == (DeviceSample.KIND_KEYBOARD, BITS['away'], 1)
    assert to_nanoseconds(sample.header.stamp) == to_nanoseconds(sample.device_stamp)
    assert abs(to_nanoseconds(sample.shown_frame_stamp) / 1e6 - anchor['stamp_ms']) < 0.01
    last = heard[-1]
    assert not last.engaged
    assert abs(to_nanoseconds(last.header.stamp) - now_ns()) < 60e9, 'a clock that makes no sense is not believed'


def test_an_episode_starts_ends_is_labelled_and_reset(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until_event('step')
            await page.say('start')
            episode = await page.until_event('episode', phase='running')
            assert episode['operator'] == page.name
            await page.until_event('control', yours=True)
            await page.say('reset')
            await page.until(lambda: page.newest('episode')['id'] != episode['id'], 'another episode')
            await page.until_event('episode', phase='running')
            await page.say('end', outcome='success')
            await page.until_event('episode', phase='ended', outcome='success', timeout_s=15.0)
            await page.say('end', outcome='discarded')
            await page.until_event('episode', phase='ended', outcome='discarded')

    run(scenario)


def test_a_second_page_watches_asks_and_is_handed_control_and_may_stop(host, bridge):
    async def scenario():
        async with (
            PageClient(bridge.port, workcell='env_0') as first,
            PageClient(bridge.port, workcell='env_0', operator='Bob') as second,
        ):
            await first.until_event('step')
            await second.until_event('step')
            await first.say('acquire', ask=False)
            await first.until_event('control', yours=True)
            await second.until_event('control', yours=False, holder=first.name)
            await second.say('start')
            notice = await second.until_event('notice')
            assert first.name in notice['text']
            await second.say('acquire', ask=True)
            await first.until_event('control', requested_by='Bob')
            await first.say('hand_over')
            await second.until_event('control', yours=True, holder='Bob')
            await first.until_event('control', yours=False)
            await first.say('emergency_stop')
            await second.until_event('control', emergency_stop=True, emergency_stop_by=[first.name])
            await second.until_event('step', hold_text='emergency stop')
            await second.say('clear_emergency_stop')
            await second.until_event('control', emergency_stop=False)

    run(scenario)


def test_a_reload_keeps_workcell_and_lease_and_a_page_that_stays_away_loses_them(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_1') as page:
            await page.until_event('workcell', id='env_1')
            await page.say('acquire', ask=False)
            await page.until_event('control', yours=True)
            key = page.key
        async with PageClient(bridge.port, session=key) as again:
            await again.until_event('workcell', id='env_1')
            await again.until_event('control', yours=True)
            assert again.key == key != again.session
        await asyncio.sleep(2.0)
        async with PageClient(bridge.port, session=key, workcell='env_1', operator='Eve') as late:
            await late.until_event('step')
            await late.until_event('control', yours=False, holder='')

    run(scenario)


def test_a_bridge_that_dies_and_comes_back_gives_a_page_its_control_again(host):
    async def scenario():
        first = BridgeProcess().wait_until_served()
        async with PageClient(first.port, workcell='env_0') as page:
            await page.until_event('step')
            await page.say('acquire', ask=False)
            await page.until_event('control', yours=True)
            key = page.key
            first.process.kill()
            first.process.communicate()
        second = BridgeProcess(port=first.port).wait_until_served()
        async with PageClient(second.port, session=key) as page:
            await page.until_event('control', yours=True)
        second.stop()
        assert second.process.returncode == 0

    run(scenario)


def test_a_session_that_opens_twice_goes_on_in_the_newer_page(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as old:
            await old.until_event('workcell')
            async with PageClient(bridge.port, session=old.key) as new:
                await new.until_event('workcell')
                await old.until_event('replaced')

    run(scenario)


def test_malformed_messages_get_a_sentence_and_the_page_lives_on(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until_live()
            await page.until(lambda: page.samples and page.samples.readyState == 'open', 'the samples channel')
            offered = max(event['number'] for event in page.events if event.get('connection') == 'video')
            for text in (
                '{',
                '[]',
                '{"type": "sudo"}',
                '{"type": "end", "outcome": 7}',
                f'{{"type": "answer", "connection": "video", "number": {offered}, "sdp": "x"}}',
            ):
                before = len(page.events)
                await page.socket.send_str(text)
                await page.until(
                    lambda before=before: any(e['type'] in ('error', 'notice') for e in page.events[before:]), text
                )
                await asyncio.sleep(0.12)
            page.samples.send('{"type": "keys", "buttons": "all"}')
            page.samples.send(b'\x00\xff')
            page.ping()
            await page.until(lambda: page.pongs, 'the pong')
            await page.say('acquire', ask=False)
            await page.until_event('control', yours=True)

    run(scenario)


def test_a_host_that_dies_is_told_and_one_that_comes_back_is_found(ros, bridge):
    async def scenario():
        with running_host('env_0'):
            page = PageClient(bridge.port, workcell='env_0')
            await page.__aenter__()
            await page.until_live()
        event = await page.until_event('host', alive=False)
        assert 'simulator does not answer' in event['text']
        await page.say('start')
        await page.until(lambda: 'not there' in (page.newest('notice') or {}).get('text', ''), 'the reason')
        with running_host('env_0'):
            await page.until_event('host', alive=True)
            page.frames.clear()
            await page.until_live()
            await page.say('acquire', ask=False)
            await page.until_event('control', yours=True)
            await page.__aexit__()

    run(scenario)


def test_who_sees_nothing_of_the_arm_moves_nothing(host, bridge, listener):
    listener.listen(topics.operator_sample('keyboard', 'arm'))

    async def scenario():
        async with PageClient(bridge.port, workcell='env_0', codecs=()) as blind:
            await blind.until_event('step')
            await blind.say('acquire', ask=False)
            await blind.until(lambda: 'no video' in (blind.newest('notice') or {}).get('text', ''), 'the reason')
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until_live()
            await page.until(lambda: page.samples and page.samples.readyState == 'open', 'the samples channel')
            await page.say('acquire', ask=False)
            await page.until_event('control', yours=True)
            (camera,) = page.frames
            heard = listener.heard[(topics.operator_sample('keyboard', 'arm').name, 'env_0')]
            for _ in range(40):
                page.keys(1, frame=[camera, 5])
                await asyncio.sleep(0.05)
                if len(heard) > 3:
                    break
            assert len(heard) > 3
            assert {to_nanoseconds(sample.shown_frame_stamp) for sample in heard} == {NOTHING_SHOWN_NS}

    run(scenario)


def test_a_page_without_control_neither_judges_nor_releases_a_stop(host, bridge):
    async def scenario():
        async with (
            PageClient(bridge.port, workcell='env_0') as holder,
            PageClient(bridge.port, workcell='env_0', operator='Bo') as other,
        ):
            await holder.until_event('step')
            await holder.say('acquire', ask=False)
            await holder.until_event('control', yours=True)
            await other.until_event('control', yours=False, holder=holder.name)
            await holder.say('start')
            await holder.until_event('episode', phase='running')
            await holder.say('end', outcome='failure')
            await holder.until_event('episode', phase='ended')
            await other.say('end', outcome='success')
            await other.until(lambda: 'control first' in (other.newest('notice') or {}).get('text', ''), 'refused')
            assert holder.newest('episode')['outcome'] == 'failure'
            await holder.say('emergency_stop')
            await other.until_event('control', emergency_stop=True)
            await other.say('emergency_stop')
            await other.say('clear_emergency_stop')
            await other.until(lambda: 'release it in the panel' in other.newest('notice')['text'], 'refused')
            await holder.say('clear_emergency_stop')
            await holder.until_event('control', emergency_stop=False)

    run(scenario)


def test_a_recorder_that_falls_silent_is_not_called_recording(host, bridge, listener):
    recorder = create_publisher(listener.node, topics.RECORDING, 'env_0')

    async def scenario():
        async with PageClient(bridge.port, workcell='env_0') as page:
            await page.until_event('step')
            recorder.publish(RecordingState(workcell_id='env_0', state=RecordingState.STATE_RECORDING))
            await page.until_event('recording', state='recording')
            silent = await page.until_event('recording', timeout_s=12.0, state='failed')
            assert 'does not answer' in silent['reason']

    run(scenario)


def test_control_characters_do_not_reach_the_log(host, bridge):
    async def scenario():
        client = PageClient(bridge.port, operator='Eve\n[ERROR] [sim]: forged')
        async with client as page:
            refused = await page.until_event('error')
            assert 'control characters' in refused['text']

    run(scenario)


@pytest.mark.parametrize('host_header', ['[', '[::1', 'evil.example', ''])
def test_an_odd_host_header_is_refused_in_words(host, bridge, host_header):
    async def scenario():
        async with aiohttp.ClientSession() as client:
            answer = await client.get(f'http://127.0.0.1:{bridge.port}/', headers={'Host': host_header})
            assert answer.status in (400, 403)

    run(scenario)


def test_link_statistics_are_published_each_second(host, bridge, listener):
    listener.listen(topics.LINK)

    async def scenario():
        async with PageClient(bridge.port, workcell='env_0', operator='Linus') as page:
            await page.until_live()
            (camera,) = page.frames
            await page.report({'name': camera, 'frame_age_ms': 41.5}, rtt_ms=1.5, clock_offset_ms=2.0, loss_down=None)
            await page.until(
                lambda: any(stats.cameras for stats in listener.heard[(topics.LINK.name, 'env_0')]), 'link statistics'
            )

    run(scenario)
    stats = next(stats for stats in listener.heard[(topics.LINK.name, 'env_0')] if stats.cameras)
    assert (stats.operator_id, stats.role, stats.codec, stats.road) == ('Linus', 'supervisor', 'h264', 'track')
    assert (stats.rtt_ms, stats.clock_offset_ms, stats.cameras[0].frame_age_ms) == (1.5, -2.0, 41.5)


def test_video_follows_the_link_of_who_has_control_and_of_nobody_else(host, bridge):
    async def scenario():
        async with (
            PageClient(bridge.port, workcell='env_0') as spectator,
            PageClient(bridge.port, workcell='env_0', operator='Linus') as driver,
        ):
            await spectator.until_live()
            await driver.until_live()
            await driver.say('acquire', ask=False)
            await driver.until_event('control', yours=True)

            async def report(page, loss):
                await page.report({'shown_width': 0}, loss_down=loss)

            def sizes(page):
                return {(frame.width, frame.height) for frame in page.frames['front'][-1:]}

            for _ in range(4):
                await report(spectator, 0.5)
                await report(driver, 0.0)
                await asyncio.sleep(0.3)
            assert sizes(driver) == {(320, 240)}, 'a slow spectator slows nobody'
            for _ in range(60):
                await report(driver, 0.5)
                await asyncio.sleep(0.3)
                if sizes(driver) == sizes(spectator) == {(160, 120)}:
                    break
            assert sizes(driver) == {(160, 120)}
            await driver.say('start')
            await driver.until(lambda: sizes(driver) == {(320, 240)}, 'full size in an episode')
        until(lambda: host.count_subscribers(topics.video('front').absolute('env_0')) == 0, 'an empty workcell')

    run(scenario)


def test_pages_are_served_with_their_locks_and_strangers_are_refused(bridge):
    with urllib.request.urlopen(bridge.url, timeout=2.0) as page:
        assert page.headers['Cache-Control'] == 'no-store'
        policy = page.headers['Content-Security-Policy']
        assert "script-src 'self';" in policy and 'unsafe' not in policy
        assert page.headers['X-Content-Type-Options'] == 'nosniff'
        assert b'<script type="module" src="/main.js">' in page.read()
    with pytest.raises(urllib.error.HTTPError, match='404'):
        urllib.request.urlopen(bridge.url + '../bridge_node.py', timeout=2.0)

    def refused(headers):
        with pytest.raises(urllib.error.HTTPError, match='403'):
            urllib.request.urlopen(urllib.request.Request(bridge.url, headers=headers), timeout=2.0)

    refused({'Host': 'evil.example'})
    refused({'Origin': 'http://evil.example'})

    async def scenario():
        async with aiohttp.ClientSession() as client:
            for origin in ('http://evil.example', 'null', 'http://127.0.0.1:3000'):
                with pytest.raises(aiohttp.WSServerHandshakeError, match='403'):
                    await client.ws_connect(bridge.url + 'ws', headers={'Origin': origin})
            async with client.ws_connect(bridge.url + 'ws', headers={'Origin': bridge.url.rstrip('/')}) as socket:
                await socket.send_str('{"type": "start"}')
                assert 'hello' in (await socket.receive_json())['text']
            async with client.ws_connect(bridge.url + 'ws') as socket:
                await socket.send_str('x' * 200_000)
                assert (await socket.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)

    run(scenario)


def test_a_page_without_its_workcell_waits_and_goes_on_when_it_comes(ros, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_7') as page:
            await page.until_event('waiting', workcell='env_7')
            with running_host('env_7'):
                await page.until_live()

    run(scenario)


def test_the_plain_address_opens_what_exists_whatever_the_session_waited_for(host, bridge):
    async def scenario():
        async with PageClient(bridge.port, workcell='env_9') as page:
            await page.until_event('waiting', workcell='env_9')
            await page.until(
                lambda: [entry['id'] for entry in page.newest('workcells')['list']] == ['env_0', 'env_1'],
                'the workcells that exist',
            )
            key = page.key
        async with PageClient(bridge.port, session=key) as page:
            # Which of the two depends on whose pages of an earlier test are still expected back.
            taken = (await page.until_event('workcell'))['id']
            await page.say('acquire', ask=False)
            await page.until_event('control', yours=True)
            async with PageClient(bridge.port, operator='Bob') as second:
                await second.until_event('workcell', id={'env_0': 'env_1', 'env_1': 'env_0'}[taken])

    run(scenario)


def test_the_plain_address_leaves_a_workcell_that_is_gone(ros, bridge):
    async def scenario():
        with running_host('env_3'):
            async with PageClient(bridge.port, workcell='env_3') as page:
                await page.until_event('step')
                key = page.key
        with running_host('env_0'):
            async with PageClient(bridge.port, session=key) as page:
                await page.until_event('workcell', id='env_0')
                await page.until_event('step')

    run(scenario)


@pytest.mark.parametrize(
    ('parameters', 'words'),
    [({'host': 'robot'}, 'which is no address'), ({'port': 70000}, '1 to 65535'), ({'grace': 1}, 'no parameter')],
)
def test_what_it_cannot_be_is_refused_with_one_sentence(private_ros_domain, parameters, words):
    refused = BridgeProcess(**({'port': free_port()} | parameters))
    output, _ = refused.process.communicate(timeout=15.0)
    assert refused.process.returncode == 2
    assert words in output and len(output.strip().splitlines()) == 1, output


def test_a_busy_port_is_told_in_one_sentence(bridge):
    second = BridgeProcess(port=bridge.port)
    output, _ = second.process.communicate(timeout=15.0)
    assert second.process.returncode == 2
    assert f'port {bridge.port}' in output and len(output.strip().splitlines()) == 1


def test_it_starts_without_mujoco():
    code = RUN_BRIDGE.split(';')[1] + "; import sys; sys.exit('mujoco' in sys.modules)"
    assert subprocess.run([sys.executable, '-c', code.strip()], timeout=30, check=False).returncode == 0
