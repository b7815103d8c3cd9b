"""What each node of Cobalt may say, hear, answer and ask under SROS 2; from the table of topics.

`python -m cobalt_bringup.sros2_policy` prints the policy file that lies in config/sros2_policy.xml.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from xml.etree import ElementTree

from cobalt_teleop.core import topics
from cobalt_teleop.core.topics import Topic

_ANY = '*'
_OF_EVERY_NODE = (
    'describe_parameters', 'get_parameter_types', 'get_parameters', 'get_type_description', 'list_parameters',
    'set_parameters', 'set_parameters_atomically',
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Rights:
    """Full names, with `*` for any part of a name.

    Attributes:
        publish: Topics.
        subscribe: Topics.
        reply: Services that it offers.
        request: Services that it calls.
    """

    publish: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    reply: tuple[str, ...] = ()
    request: tuple[str, ...] = ()


def _names(*of_workcells: Topic) -> tuple[str, ...]:
    return tuple(topic.absolute(_ANY) for topic in of_workcells)


def _services(*names: str) -> tuple[str, ...]:
    return tuple(topics.service_name(_ANY, name) for name in names)


_STATES = (topics.CONTROL_STATE, topics.EPISODE, topics.WORKCELL, topics.GOAL_PICTURE)
_VIDEO = (topics.video(_ANY, 'h264'), topics.video(_ANY, 'vp8'))
_DRIVER = ('AcquireControl', 'ReleaseControl')


def _page_device(device: str) -> Rights:
    return Rights(
        publish=_names(topics.teleop_command(_ANY)),
        subscribe=_names(topics.CONTROL_STEP, topics.WORKCELL, topics.operator_sample(device, _ANY)),
    )


def _local_device(device: str) -> Rights:
    """Of a device that may also stand at the node's own machine, where it takes control for itself."""
    page = _page_device(device)
    return replace(page, subscribe=page.subscribe + _names(topics.CONTROL_STATE), request=_services(*_DRIVER))


_CONTROLLERS = (
    '/forward_position_controller/commands', '/joint_trajectory_controller/joint_trajectory',
    '/cartesian_motion_controller/target_frame', '/gripper_controller/commands',
)  # fmt: skip
"""Where the driver `ros2_control` sends set points unless it is told otherwise."""

_OF_ARM_DRIVER = Rights(
    publish=(
        *_names(
            topics.CONTROL_STEP, *_STATES, topics.JOINT_STATES, topics.target_pose(_ANY), topics.current_pose(_ANY)
        ),
        *_CONTROLLERS,
    ),
    subscribe=(
        *_names(topics.teleop_command(_ANY), topics.policy_command(_ANY), topics.RECORDING, *_VIDEO),
        '/joint_states',
        '/diagnostics',
        '/*/success',
    ),
    reply=_services(*topics.SERVICES),
    request=('/*/stop', '/*/recover'),
)

_OF_SIMULATED_HARDWARE = Rights(
    publish=(
        *_names(topics.object_pose(_ANY), topics.image_raw(_ANY)),
        '/joint_states',
        '/diagnostics',
        '/mujoco_hardware/success',
    ),
    subscribe=(*_CONTROLLERS, '/mujoco_hardware/inject'),
    reply=('/mujoco_hardware/stop', '/mujoco_hardware/recover'),
)

RIGHTS: Mapping[str, Rights] = {
    'arm_driver': _OF_ARM_DRIVER,
    'mujoco_hardware': _OF_SIMULATED_HARDWARE,
    'sim': Rights(
        publish=_names(
            topics.CONTROL_STEP,
            *_STATES,
            topics.JOINT_STATES,
            topics.target_pose(_ANY),
            topics.current_pose(_ANY),
            topics.object_pose(_ANY),
            topics.SIMULATOR_STATE,
            topics.image_raw(_ANY),
            topics.camera_info(_ANY),
            *_VIDEO,
        ),
        subscribe=_names(
            topics.teleop_command(_ANY), topics.policy_command(_ANY), topics.RECORDING, topics.request_key_frame(_ANY)
        ),
        reply=_services(*topics.SERVICES),
    ),
    'webrtc_bridge': Rights(
        publish=_names(topics.operator_sample(_ANY, _ANY), topics.LINK, topics.request_key_frame(_ANY)),
        subscribe=_names(topics.CONTROL_STEP, *_STATES, topics.RECORDING, topics.QUALITY, *_VIDEO),
        request=_services(*topics.SERVICES),
    ),
    'recorder_node': Rights(
        publish=_names(topics.RECORDING, topics.QUALITY, topics.request_key_frame(_ANY)),
        subscribe=('/*',),
    ),
    'keyboard_node': _local_device('keyboard'),
    'spacemouse_node': _local_device('spacemouse'),
    'gamepad_node': _page_device('gamepad'),
    'phone_node': _page_device('phone'),
    'vr_node': _page_device('vr'),
    'page_devices': _local_device(_ANY),  # all of the above in one process
    'camera_encoder': Rights(
        publish=_names(*_VIDEO),
        subscribe=('/*/camera/*', *_names(topics.EPISODE)),
        reply=_services('SetCamera'),
    ),
    'foxglove_server': Rights(
        publish=_names(topics.request_key_frame(_ANY)),
        subscribe=('/*',),
        request=_services(*topics.SERVICES),
    ),
}
"""By node. The recorder and Foxglove hear everything; only device nodes and policies may command."""


def policy_xml(rights: Mapping[str, Rights] = RIGHTS) -> str:
    """Returns the policy file, in which each node has the enclave /cobalt/<node>."""
    policy = ElementTree.Element('policy', version='0.2.0')
    enclaves = ElementTree.SubElement(policy, 'enclaves')
    for node, own in rights.items():
        enclave = ElementTree.SubElement(enclaves, 'enclave', path=f'/cobalt/{node}')
        profile = ElementTree.SubElement(ElementTree.SubElement(enclave, 'profiles'), 'profile', ns='/', node=node)
        _allow(profile, 'topics', 'publish', 'topic', ('/rosout', '/parameter_events', *own.publish))
        _allow(profile, 'topics', 'subscribe', 'topic', ('/parameter_events', *own.subscribe))
        _allow(profile, 'services', 'reply', 'service', (*(f'/{node}/{name}' for name in _OF_EVERY_NODE), *own.reply))
        _allow(profile, 'services', 'request', 'service', own.request)
    ElementTree.indent(policy)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(policy, encoding="unicode")}\n'


def _allow(profile: ElementTree.Element, kind: str, what: str, tag: str, names: Iterable[str]) -> None:
    entries = sorted(set(names))
    if entries:
        group = ElementTree.SubElement(profile, kind, {what: 'ALLOW'})
        for name in entries:
            ElementTree.SubElement(group, tag).text = name


if __name__ == '__main__':
    print(policy_xml(), end='')
