from cobalt_interfaces.msg import EpisodeState
from cobalt_recorder.plain_text import LONGEST, make_texts_plain, plain_text


def test_plain_texts_stay():
    for text in ('', 'lift the cube', 'Würfel heben', '把方块拿起来', 'a/b:c'):
        assert plain_text(text) == text


def test_control_characters_become_spaces():
    assert plain_text('a\nb\x1b[31m\x00\u202ec') == 'a b [31m  c'


def test_long_texts_are_cut():
    assert plain_text('x' * 10**6) == 'x' * (LONGEST - 1) + '…'
    assert plain_text('x' * LONGEST) == 'x' * LONGEST


def test_all_texts_of_a_message_are_made_plain():
    message = EpisodeState(operator_id='a\r\nb', instruction='\x07', seed=3, task='lift')
    make_texts_plain(message)
    assert (message.operator_id, message.instruction, message.seed, message.task) == ('a  b', ' ', 3, 'lift')
