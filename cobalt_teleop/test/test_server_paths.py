"""What guests are told of the server's folders."""

import pytest

from cobalt_teleop.bridge.wire.server_paths import without_server_paths


@pytest.mark.parametrize(
    ('told', 'kept'),
    [
        (
            '/home/ada/datasets/lift/01JABC cannot be written: No space left',
            'lift/01JABC cannot be written: No space left',
        ),
        ('the disk of /data/lift/01JABC is full', 'the disk of lift/01JABC is full'),
        ('20 /s, and 1/2 of them late', '20 /s, and 1/2 of them late'),
        ('ended by Ada', 'ended by Ada'),
        ('', ''),
    ],
)
def test_paths_in_sentences_are_cut_to_task_and_episode(told, kept):
    assert without_server_paths({'reason': told, 'reasons': [told]}) == {'reason': kept, 'reasons': [kept]}


@pytest.mark.parametrize(
    ('uri', 'kept'),
    [('/home/ada/my data/lift/01JABC', 'lift/01JABC'), ('datasets/lift/01JABC/', 'lift/01JABC'), ('', '')],
)
def test_a_bags_folder_becomes_the_name_of_the_episode(uri, kept):
    assert without_server_paths({'type': 'quality', 'uri': uri, 'metrics': [{'value': 1.0}], 'final': True}) == {
        'type': 'quality',
        'uri': kept,
        'metrics': [{'value': 1.0}],
        'final': True,
    }
