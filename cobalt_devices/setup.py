"""Builds and installs cobalt_devices."""

from pathlib import Path

from setuptools import find_packages, setup

package_name = 'cobalt_devices'


def files(folder: str, pattern: str) -> list[str]:
    """Returns the files of a folder."""
    return sorted(str(path) for path in Path(folder).glob(pattern) if path.is_file())


setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
        ('share/' + package_name + '/config', files('config', '*.yaml')),
        ('share/' + package_name + '/udev', files('udev', '*.rules')),
    ],
    install_requires=['setuptools'],
    extras_require={
        'test': ['pytest'],
        'franka': ['franky-control==2.0.0'],
        'so101': ['feetech-servo-sdk==1.0.0'],
        'ur_rtde': ['ur_rtde==1.6.5'],
        'xarm': ['xarm-python-sdk==1.18.4'],
    },
    zip_safe=True,
    maintainer='Cobalt maintainers',
    maintainer_email='maintainers@cobalt.invalid',
    description='Operator device nodes of Cobalt.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            'arm_driver_node = cobalt_devices.arm_driver.arm_driver_node:main',
            'gamepad_node = cobalt_devices.gamepad_node:main',
            'keyboard_node = cobalt_devices.keyboard_node:main',
            'page_devices = cobalt_devices.page_devices:main',
            'phone_node = cobalt_devices.phone_node:main',
            'pose_adapter = cobalt_devices.pose_adapter_node:main',
            'spacemouse_node = cobalt_devices.spacemouse_node:main',
            'usb_camera = cobalt_devices.usb_camera.usb_camera_node:main',
            'vr_node = cobalt_devices.vr_node:main',
        ],
        'cobalt.commands': ['driver = cobalt_devices.arm_driver.driver_command'],
        'cobalt_devices.drivers': [
            'franka = cobalt_devices.drivers.franka:FrankaDriver',
            'loopback = cobalt_devices.drivers.loopback:LoopbackDriver',
            'moveit_servo = cobalt_devices.drivers.moveit_servo:MoveitServoDriver',
            'mujoco_hardware = cobalt_devices.drivers.mujoco_hardware:make',
            'ros2_control = cobalt_devices.drivers.ros2_control:Ros2ControlDriver',
            'so101 = cobalt_devices.drivers.so101:So101Driver',
            'ur_rtde = cobalt_devices.drivers.ur_rtde:UrRtdeDriver',
            'xarm = cobalt_devices.drivers.xarm:XArmDriver',
        ],
        'cobalt.parameters': ['cobalt_devices = cobalt_devices.parameter_tables:TABLES'],
    },
)
