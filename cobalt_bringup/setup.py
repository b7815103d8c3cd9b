"""Builds and installs cobalt_bringup."""

from pathlib import Path

from setuptools import find_packages, setup

package_name = 'cobalt_bringup'


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
        ('share/' + package_name + '/config', files('config', '*')),
        ('share/' + package_name + '/launch', files('launch', '*.launch.xml')),
        ('share/' + package_name + '/launch/devices', files('launch/devices', '*.launch.xml')),
        ('share/' + package_name + '/launch/parts', files('launch/parts', '*.launch.xml')),
    ],
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    zip_safe=True,
    maintainer='Cobalt maintainers',
    maintainer_email='maintainers@cobalt.invalid',
    description='Launch files, parameter files and the cobalt command.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            'cobalt = cobalt_bringup.cli:main',
        ],
        'cobalt.commands': [
            'up = cobalt_bringup.up',
            'doctor = cobalt_bringup.doctor',
            'machines = cobalt_bringup.machines',
            'replay = cobalt_bringup.replay',
        ],
    },
)
