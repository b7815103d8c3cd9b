from cobalt_teleop.foxglove.key_frame_request import camera_of


def test_the_camera_of_a_video_is_found_and_of_nothing_else():
    assert camera_of('/env_0/camera/front/video') == ('env_0', 'front')
    assert camera_of('/env_0/camera/front/video_vp8') == ('env_0', 'front')
    for other in ('/env_0/camera/front/image_raw', '/env_0/control_step', '/a/b/c/d', '/video', '/x/camera/y/z/video'):
        assert camera_of(other) is None
