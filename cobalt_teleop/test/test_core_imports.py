import ast
from pathlib import Path

import cobalt_teleop

PACKAGE = Path(cobalt_teleop.__file__).parent


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_core_knows_neither_ros_nor_mujoco_nor_the_floors_above():
    allowed_own = 'cobalt_teleop.core'
    for path in sorted((PACKAGE / 'core').glob('*.py')):
        for module in imported_modules(path):
            root = module.split('.')[0]
            assert root not in ('rclpy', 'mujoco', 'cobalt_interfaces') and not root.endswith('_msgs'), (path, module)
            assert root != 'cobalt_teleop' or module.startswith(allowed_own), (path, module)


def test_only_kinematics_imports_mujoco():
    for path in PACKAGE.rglob('*.py'):
        if 'kinematics' not in path.parts and 'robots' not in path.parts:
            assert 'mujoco' not in {module.split('.')[0] for module in imported_modules(path)}, path
