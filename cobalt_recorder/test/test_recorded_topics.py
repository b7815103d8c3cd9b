from cobalt_recorder.recorded_topics import recorded_topics
from cobalt_teleop.core import topics

SAMPLE = 'cobalt_interfaces/msg/DeviceSample'


def names(**changes):
    options = {'parts': ['left', 'right'], 'cameras': ['front'], 'declared': [], 'graph': {}} | changes
    found, unknown = recorded_topics('env_0', **options)
    return found, unknown


def test_states_commands_and_video_but_no_raw_pictures():
    found, _ = names(graph={'/env_0/camera/front/image_raw': ['sensor_msgs/msg/Image']})
    assert set(found) == {
        '/env_0/control_step',
        '/env_0/control_state',
        '/env_0/workcell',
        '/env_0/link',
        '/env_0/left/teleop_command',
        '/env_0/left/policy_command',
        '/env_0/right/teleop_command',
        '/env_0/right/policy_command',
        '/env_0/camera/front/video',
        '/env_0/camera/front/camera_info',
    }


def test_devices_that_exist_of_this_workcell():
    graph = {
        '/env_0/operator/keyboard/left': [SAMPLE],
        '/env_1/operator/keyboard/left': [SAMPLE],
        '/env_0/operator/strange/left': ['std_msgs/msg/String'],
    }
    found, _ = names(graph=graph)
    assert [name for name in found if '/operator/' in name] == ['/env_0/operator/keyboard/left']


def test_objects_whose_poses_somebody_tells_of_this_workcell():
    graph = {
        '/env_0/object/cube/pose': ['geometry_msgs/msg/PoseStamped'],
        '/env_1/object/cube/pose': ['geometry_msgs/msg/PoseStamped'],
        '/env_0/object/cube/colour': ['geometry_msgs/msg/PoseStamped'],
        '/env_0/object/strange/pose': ['std_msgs/msg/String'],
        '/object/cube/pose': ['geometry_msgs/msg/PoseStamped'],
    }
    found, _ = names(graph=graph)
    assert [name for name in found if '/object/' in name] == ['/env_0/object/cube/pose']


def test_declared_topics_are_marked_and_foreign_ones_taken_as_they_are():
    declared = ['/env_0/control_step', '/env_0/episode', '/env_0/scale/weight', '/env_0/nowhere']
    found, unknown = names(declared=declared, graph={'/env_0/scale/weight': ['std_msgs/msg/Float32']})
    assert found['/env_0/control_step'].declared
    assert not found['/env_0/link'].declared
    assert found['/env_0/scale/weight'].topic.type == 'std_msgs/msg/Float32'
    assert found['/env_0/control_step'].topic.qos == topics.CONTROL_STEP.qos
    assert unknown == ['/env_0/nowhere']
