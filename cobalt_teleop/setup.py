"""Builds and installs cobalt_teleop."""

from setuptools import find_packages, setup

package_name = 'cobalt_teleop'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    package_data={
        'cobalt_teleop.bridge': ['web/*', 'web/devices/*'],
        'cobalt_teleop.robots': ['*/*.yaml', '*/*.xml', '*/LICENSE', '*/NOTICE', '*/*.py', '*/meshes/*.stl'],
    },
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
    ],
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    zip_safe=False,
    maintainer='Cobalt maintainers',
    maintainer_email='maintainers@cobalt.invalid',
    description='Core, workcell host, video and WebRTC bridge of Cobalt.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            'camera_encoder = cobalt_teleop.video.camera_encoder_node:main',
            'foxglove_server = cobalt_teleop.foxglove.foxglove_server_node:main',
            'webrtc_bridge = cobalt_teleop.bridge.bridge_node:main',
        ],
        'cobalt.commands': ['invite = cobalt_teleop.bridge.door.invite_command'],
        'cobalt.parameters': ['cobalt_teleop = cobalt_teleop.parameter_tables:TABLES'],
    },
)
