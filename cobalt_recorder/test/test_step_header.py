import pytest
from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message

from cobalt_interfaces.msg import ControlStep
from cobalt_recorder.step_header import StepHeader, read_step_header


@pytest.mark.parametrize('workcell_id', ['', 'e', 'env_0', 'env_10', 'a_long_name'])
@pytest.mark.parametrize('episode_id', ['', '01M8P1HDMH8KPVADP8EKHK24HZ'])
def test_reads_what_the_middleware_wrote(workcell_id, episode_id):
    row = ControlStep(schema_version=1, workcell_id=workcell_id, episode_id=episode_id, step=2**40 + 3, phase=2)
    row.header.stamp = Time(sec=1_796_036_147, nanosec=999_999_999)
    row.header.frame_id = workcell_id
    header = read_step_header(bytes(serialize_message(row)))
    assert header == StepHeader(1_796_036_147_999_999_999, episode_id, 2**40 + 3)


@pytest.mark.parametrize(
    'data', [b'', b'\x00\x01\x00\x00', b'\x00\x01\x00\x00' + bytes(12), b'\x00\x00\x00\x00' + bytes(64)]
)
def test_refuses_what_is_no_row(data):
    with pytest.raises(ValueError):
        read_step_header(data)
