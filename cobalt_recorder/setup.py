"""Builds and installs cobalt_recorder."""

from setuptools import find_packages, setup

package_name = 'cobalt_recorder'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
        ('share/' + package_name + '/config', ['config/quality_rules.yaml']),
    ],
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    zip_safe=True,
    maintainer='Cobalt maintainers',
    maintainer_email='maintainers@cobalt.invalid',
    description='Recorder of Cobalt: rosbag2 MCAP bags with verdicts.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': ['recorder_node = cobalt_recorder.recorder_node:main'],
        'cobalt.commands': [
            'bag = cobalt_recorder.bag_command',
            'export = cobalt_recorder.export_command',
            'dataset = cobalt_recorder.dataset_command',
        ],
        'cobalt.parameters': ['cobalt_recorder = cobalt_recorder.parameter_tables:TABLES'],
    },
)
