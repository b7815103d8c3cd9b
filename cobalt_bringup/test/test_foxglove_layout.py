"""The layout for Foxglove, held against the SDK's own description of panels, and against Cobalt's topics and messages.

The application itself is not run here.
"""

import json
import re
from pathlib import Path

import pytest
from foxglove import layouts
from rosbags.typesys import get_types_from_msg

from cobalt_interfaces import srv
from cobalt_interfaces.msg import ControlStep, EpisodeState, PartStep, RecordingState
from cobalt_teleop.core import topics
from cobalt_teleop.ros.interface_text import message_text

LAYOUT = json.loads((Path(__file__).parent.parent / 'config' / 'foxglove_layout.json').read_text())
PANELS = LAYOUT['configById']
CONFIGS = {
    'Image': layouts.ImageConfig,
    '3D': layouts.ThreeDeeConfig,
    'Plot': layouts.PlotConfig,
    'StateTransitions': layouts.StateTransitionsConfig,
    'Indicator': layouts.IndicatorConfig,
    'RawMessages': layouts.RawMessagesConfig,
    'CallService': layouts.ServiceCallConfig,
}
SERVED = {
    topic.absolute('env_0'): topic.type
    for topic in (
        topics.CONTROL_STEP,
        topics.CONTROL_STATE,
        topics.EPISODE,
        topics.RECORDING,
        topics.QUALITY,
        topics.LINK,
        topics.current_pose('arm'),
        topics.target_pose('arm'),
        topics.object_pose('cube'),
        topics.video('front'),
        topics.video('wrist'),
    )
}


def message_paths():
    for panel in PANELS.values():
        yield from (series['value'] for series in panel.get('paths', ()))
        yield from (panel[key] for key in ('path', 'topicPath') if key in panel)


def field_type(message, fields, text):
    """Follows a path through the message's definition; fails if a field is not there."""
    types = get_types_from_msg(text, message)
    kind = (1, (message, None))
    for field in fields:
        name, _, index = field.partition('[')
        kind = dict(types[_name(kind)][1])[name]
        assert bool(index) == (int(kind[0]) >= 3), f'{message}: {field} is {kind}'
        if index:
            kind = kind[1][0]
    return kind


def _name(kind):
    return kind[1][0] if isinstance(kind[1], tuple) else kind[1]


def placed(node):
    return [node] if isinstance(node, str) else [*placed(node['first']), *placed(node['second'])]


def test_each_panel_has_one_place():
    assert sorted(placed(LAYOUT['layout'])) == sorted(PANELS)


@pytest.mark.parametrize('panel', PANELS)
def test_the_panels_are_of_kinds_and_settings_that_the_sdk_knows(panel):
    known = set(CONFIGS[panel.partition('!')[0]]()._to_dict()) | {'foxglovePanelTitle'}
    assert set(PANELS[panel]) <= known
    for series in PANELS[panel].get('paths', ()):
        assert set(series) <= set(layouts.PlotSeries()._to_dict()) | set(layouts.StateTransitionsSeries()._to_dict())
        assert series['enabled']
    for rule in PANELS[panel].get('rules', ()):
        assert set(rule) <= set(layouts.IndicatorRule()._to_dict())
    assert set(PANELS[panel].get('imageMode', ())) <= set(layouts.ImageModeConfig()._to_dict())
    assert set(PANELS[panel].get('cameraState', ())) <= set(layouts.ThreeDeeCameraState()._to_dict())


@pytest.mark.parametrize('path', list(message_paths()))
def test_each_path_leads_to_a_field_of_a_topic_that_exists(path):
    topic, *fields = path.split('.')
    assert topic in SERVED
    field_type(SERVED[topic], fields, message_text(SERVED[topic]))


def test_pictures_and_poses_are_topics_that_exist():
    for panel in PANELS.values():
        if 'imageMode' in panel:
            assert panel['imageMode']['imageTopic'] in SERVED
        assert set(panel.get('topics', ())) <= set(SERVED)
    assert PANELS['3D!scene']['followTf'] == topics.base_frame('env_0', 'arm')


def test_the_buttons_call_services_with_fields_that_they_have():
    offered = {topics.service_name('sim', name): getattr(srv, name).Request for name in topics.SERVICES}
    buttons = [panel for panel in PANELS.values() if 'serviceName' in panel]
    assert len(buttons) == 2
    for button in buttons:
        fields = json.loads(button['requestPayload'])
        assert set(fields) <= set(offered[button['serviceName']].get_fields_and_field_types())


@pytest.mark.parametrize(
    ('field', 'message', 'prefix'),
    [
        ('phase', EpisodeState, 'PHASE_'),
        ('authority', ControlStep, 'AUTHORITY_'),
        ('hold_reason', PartStep, 'HOLD_'),
        ('state', RecordingState, 'STATE_'),
    ],
)
def test_each_value_of_a_state_has_a_word(field, message, prefix):
    values = {
        str(getattr(message, name)) for name in dir(type(message)) + dir(message) if re.match(f'{prefix}[A-Z]', name)
    }
    series = next(
        series for series in PANELS['StateTransitions!states']['paths'] if series['value'].rpartition('.')[2] == field
    )
    assert len(values) > 3
    assert {state['value'] for state in series['customStates']['states']} == values
