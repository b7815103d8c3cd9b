"""What of the lobby survives a restart."""

import asyncio
import json
import os
import time
from dataclasses import replace

import pytest

from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.operators.lobby import public_session_id
from cobalt_teleop.bridge.operators.lobby_state import (
    KnownSession,
    LobbyState,
    LobbyStateError,
    LobbyStateFile,
    key_sha256,
    read_lobby_state,
)
from cobalt_teleop.bridge.operators.pairings import KnownPairing
from cobalt_teleop.bridge.operators.stop_record import KnownStop

KEY = '00112233445566778899aabbccddeeff'
KNOWN = KnownSession(
    session_id=public_session_id(KEY),
    key_sha256=key_sha256(KEY),
    operator='Ada 2',
    wanted_name='Ada',
    colour=3,
    role='operator',
    invitation_id='i1',
    wish='',
    workcell='env_0',
    watched='env_0',
    wants_place=True,
)
STOP = KnownStop(workcell='env_1', name='Sue', session_id='', supervisor='Sue')
PAIRING = KnownPairing(code_sha256='c' * 64, session_id=KNOWN.session_id, device='d' * 16, expires_s=1.5)
STATE = LobbyState((KNOWN,), (KNOWN.session_id,), (STOP,), (PAIRING,))


def test_it_reads_what_it_wrote():
    assert read_lobby_state(STATE.to_bytes()) == STATE


def test_a_state_of_an_older_bridge_has_no_codes():
    content = json.loads(STATE.to_bytes())
    del content['pairings']
    assert read_lobby_state(json.dumps(content).encode()) == replace(STATE, pairings=())


def test_what_is_kept_opens_no_session():
    kept = STATE.to_bytes().decode()
    assert KEY not in kept
    assert KNOWN.is_opened_by(KEY)
    for secret in json.loads(kept)['sessions'][0].values():
        assert not KNOWN.is_opened_by(str(secret)), 'nothing that is written is a key'


@pytest.mark.parametrize(
    'content',
    [
        b'',
        b'{',
        b'[' * 200_000,
        b'[]',
        b'{"sessions": [{}], "line": [], "stops": []}',
        b'{"sessions": [[]], "line": [], "stops": []}',
        b'{"sessions": [], "line": [], "stops": [{"workcell": "env_0"}]}',
        b'{"sessions": [], "line": [], "stops": [], "pairings": [{"code_sha256": ""}]}',
        b'\xff',
        STATE.to_bytes().replace(b'"colour": 3', b'"colour": "red"'),
    ],
)
def test_what_is_no_state_is_refused_in_words(content):
    with pytest.raises(LobbyStateError, match='cannot be read'):
        read_lobby_state(content)


def test_changes_are_gathered_and_written(tmp_path):
    async def scenario():
        folder, log = StateFolder(str(tmp_path)), []
        states = [LobbyState()]
        file = LobbyStateFile(folder, 'sessions.json', lambda: states[-1], log.append)
        assert file.read() == LobbyState()
        for number in range(50):
            states.append(replace(STATE, line=(str(number),)))
            file.changed()
        await asyncio.sleep(0)
        assert folder.read('sessions.json') is None, 'not at once'
        for _ in range(200):
            await asyncio.sleep(0.02)
            if folder.read('sessions.json') == states[-1].to_bytes():
                break
        assert file.read() == states[-1]
        assert folder.file('sessions.json').stat().st_mode & 0o077 == 0
        os.utime(folder.file('sessions.json'), (time.time() - 3600.0, time.time() - 3600.0))
        expected = LobbyState(stops=(STOP,))
        assert file.read() == expected, 'who was here an hour ago is expected no more; a stop is'
        file.still_here()
        assert file.read() == states[-1]
        folder.write('sessions.json', b'rubbish')
        assert file.read() == LobbyState() and 'cannot be read' in log[-1]

    asyncio.run(scenario())
