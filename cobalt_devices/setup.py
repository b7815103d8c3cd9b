"""Builds and installs cobalt_devices."""

from setuptools import find_packages, setup

package_name = 'cobalt_devices'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
    ],
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    zip_safe=True,
    maintainer='Cobalt maintainers',
    maintainer_email='maintainers@cobalt.invalid',
    description='Operator device nodes of Cobalt.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            'keyboard_node = cobalt_devices.keyboard_node:main',
        ],
    },
)
