"""Builds and installs cobalt_sim."""

from setuptools import find_packages, setup

package_name = 'cobalt_sim'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
        ('share/' + package_name + '/config', ['config/sim.yaml']),
    ],
    install_requires=['setuptools', 'mujoco>=3.17,<4'],
    extras_require={'gym': ['gymnasium>=1.4,<2'], 'test': ['pytest']},
    zip_safe=False,
    maintainer='Cobalt maintainers',
    maintainer_email='maintainers@cobalt.invalid',
    description='Vectorised MuJoCo simulator of Cobalt.',
    license='Apache-2.0',
    entry_points={
        'cobalt.commands': ['robot = cobalt_sim.robot_command'],
        'console_scripts': [
            'mujoco_hardware = cobalt_sim.hardware.mujoco_hardware_node:main',
            'sim_node = cobalt_sim.sim_node:main',
            'scripted_operator = cobalt_sim.scripted_operator.node:main',
        ],
        'cobalt.parameters': ['cobalt_sim = cobalt_sim.parameter_tables:TABLES'],
    },
)
