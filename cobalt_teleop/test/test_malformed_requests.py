"""What the log tells of requests that cannot be read."""

import logging

import pytest
from aiohttp.http_exceptions import BadStatusLine

from cobalt_teleop.bridge.door.malformed_requests import MalformedRequests


@pytest.fixture
def log(caplog):
    logger = logging.Logger('server')
    logger.addHandler(caplog.handler)
    logger.addFilter(MalformedRequests())
    return logger


def fail(log, error, address='192.0.2.7'):
    try:
        raise error
    except type(error):
        log.exception('Error handling request from %s', address)


def test_a_stranger_who_sends_rubbish_is_told_once_and_nothing_of_it(log, caplog):
    for number in range(50):
        fail(log, BadStatusLine(f'GET /?token=secret-{number} x'))
    fail(log, BadStatusLine('x'), '192.0.2.8')
    assert [record.getMessage() for record in caplog.records] == [
        '192.0.2.7 sends requests that are no HTTP; they are refused',
        '192.0.2.8 sends requests that are no HTTP; they are refused',
    ]
    assert 'secret' not in caplog.text


def test_a_fault_of_our_own_is_told_each_time_by_kind_and_place_in_one_line(log, caplog):
    for _ in range(2):
        fail(log, KeyError('a token'))
    assert len(caplog.records) == 2
    assert 'KeyError in fail, line' in caplog.text
    assert 'Traceback' not in caplog.text and 'a token' not in caplog.text


def test_who_has_gone_is_not_told(log, caplog):
    fail(log, ConnectionResetError('Cannot write to closing transport'))
    assert not caplog.records


def test_other_lines_pass(log, caplog):
    log.info('all is well')
    assert 'all is well' in caplog.text


def test_the_memory_for_strangers_is_bounded(log, caplog):
    for number in range(1500):
        fail(log, BadStatusLine('x'), f'stranger {number}')
    assert len(caplog.records) == 1000
