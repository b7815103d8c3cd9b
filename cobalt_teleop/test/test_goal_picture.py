"""The picture of the goal, from a plant or a file to whoever subscribes, and what pages get of it."""

import cv2
import numpy as np
import pytest
import rclpy
from bridge_process import running_host
from goal_plant import GoalPlant
from ros_operator import Operator, until
from sensor_msgs.msg import CompressedImage

from cobalt_teleop.bridge.wire.goal_picture import goal_event, goal_picture
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.picture_file import MAX_GOAL_BYTES, picture_format
from cobalt_teleop.workcell_host.goal_picture import GoalPicture, read_photograph
from cobalt_teleop.workcell_host.host_node import HostNode, HostOptions
from cobalt_teleop.workcell_host.ideal_plant import IdealPlant


@pytest.fixture
def ros(private_ros_domain):
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def operator(ros):
    made = Operator('late')
    yield made
    made.close()


def saved(path, *, size=(48, 64)):
    cv2.imwrite(str(path), np.full((*size, 3), (200, 90, 30), np.uint8))
    return path


def test_who_subscribes_late_gets_what_the_plant_has_drawn(operator):
    with running_host('env_0', plant=GoalPlant) as node:
        until(lambda: node.count_publishers(topics.GOAL_PICTURE.absolute('env_0')), 'the topic')
        operator.listen(topics.GOAL_PICTURE)
        message = until(lambda: operator.newest(topics.GOAL_PICTURE), 'the picture')
    shown = cv2.imdecode(np.frombuffer(bytes(message.data), np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
    assert message.format == picture_format(bytes(message.data)) == 'jpeg'
    assert shown.shape == (240, 320, 3)
    assert np.abs(shown.astype(int) - GoalPlant().goal_picture('raise')).mean() < 4


@pytest.mark.parametrize('name', ['goal.jpg', 'goal.png'])
def test_a_photograph_stands_for_what_the_plant_would_draw(operator, tmp_path, name):
    file = saved(tmp_path / name)
    node = HostNode('with_photograph')
    node.host({'lab': GoalPlant()}, HostOptions(render_threads=1, goal_picture=str(file)))
    operator.listen(topics.GOAL_PICTURE, 'lab')
    message = until(lambda: operator.newest(topics.GOAL_PICTURE, 'lab'), 'the picture')
    node.close()
    node.destroy_node()
    assert bytes(message.data) == file.read_bytes()


def test_a_plant_that_draws_none_has_no_topic_and_a_picture_goes_with_its_task(operator):
    class OfOneTask(IdealPlant):
        def goal_picture(self, task):
            return self.capture('front') if task == 'shown' else None

    topic = topics.GOAL_PICTURE.absolute('env_0')
    goal = GoalPicture(operator.node, 'env_0', OfOneTask(), None)
    goal.show('hidden')
    assert not operator.node.count_publishers(topic)
    goal.show('shown')
    until(lambda: operator.node.count_publishers(topic), 'the topic')
    goal.show('hidden')
    until(lambda: not operator.node.count_publishers(topic), 'its end')


def test_a_plant_that_cannot_draw_its_goal_is_driven_all_the_same(operator):
    class Clumsy(IdealPlant):
        def goal_picture(self, task):
            raise RuntimeError('no paint')

    operator.listen(topics.CONTROL_STEP)
    operator.listen(topics.CONTROL_STATE)
    with running_host('env_0', plant=Clumsy):
        until(lambda: (row := operator.newest(topics.CONTROL_STEP)) and row.step > 3, 'ticks')
    assert not operator.newest(topics.CONTROL_STATE).faults


def test_a_file_that_cannot_be_shown_is_refused_in_words(tmp_path):
    text, broken, large = (tmp_path / name for name in ('a.txt', 'b.jpg', 'c.jpg'))
    text.write_text('no picture')
    broken.write_bytes(saved(tmp_path / 'whole.jpg').read_bytes()[:200])
    large.write_bytes(b'\xff\xd8\xff' + bytes(MAX_GOAL_BYTES))
    for path, words in (
        (tmp_path / 'absent.jpg', 'absent.jpg, cannot be read: No such file'),
        (tmp_path, 'cannot be read: Is a directory'),
        (text, 'a.txt, cannot be shown: .* neither JPEG nor PNG'),
        (broken, 'b.jpg, cannot be shown: a JPEG is broken'),
        (large, 'c.jpg, has 1.0 MB, but may have at most 1: save it smaller'),
    ):
        with pytest.raises(CobaltError, match=words):
            read_photograph(path)


def test_pages_get_pictures_alone_whatever_their_publisher_says_of_them():
    def served(data):
        return goal_picture(CompressedImage(format='image/svg+xml', data=data))

    jpeg, png = b'\xff\xd8\xff\xe0 a', b'\x89PNG\r\n\x1a\n a'
    assert (served(jpeg).content_type, served(png).content_type) == ('image/jpeg', 'image/png')
    assert served(jpeg).version != served(png).version == served(png).version
    assert served(b'<svg onload="x()"/>') is None and served(b'') is None
    assert served(jpeg + bytes(MAX_GOAL_BYTES)) is None
    assert goal_event('env_0', None) == {'type': 'goal', 'workcell': 'env_0', 'version': ''}
