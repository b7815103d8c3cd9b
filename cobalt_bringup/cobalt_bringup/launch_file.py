"""Reads the named part of ROS 2's XML launch format and says which processes it asks for.

For machines where `ros2 launch` is absent (PyPI has no `launch`). What it accepts, it treats as launch, launch_xml and
launch_ros do; what it does not know, it refuses.
"""

import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from cobalt_bringup.launch_element import MAX_DEPTH, Element, LaunchFileError, read_elements
from cobalt_bringup.launch_substitution import SubstitutionError, Values, fragments, substitute

_ACTIONS = ('arg', 'let', 'include', 'group', 'push-ros-namespace', 'set_env', 'executable', 'node')
_CONDITIONS = ('if', 'unless')
_RESPAWN = ('respawn', 'respawn_delay', 'respawn_max_retries')

# Element: (required attributes, optional attributes, children)
_FORMAT: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    'launch': ((), ('version',), _ACTIONS),
    'arg': (('name',), ('default', 'description', *_CONDITIONS), ('choice',)),
    'choice': (('value',), (), ()),
    'let': (('name', 'value'), _CONDITIONS, ()),
    'include': (('file',), _CONDITIONS, ('arg',)),
    'group': ((), ('scoped', *_CONDITIONS), _ACTIONS),
    'push-ros-namespace': (('namespace',), _CONDITIONS, ()),
    'set_env': (('name', 'value'), _CONDITIONS, ()),
    'executable': (('cmd',), ('name', 'cwd', 'output', 'on_exit', *_RESPAWN, *_CONDITIONS), ('env',)),
    'node': (
        ('pkg', 'exec'),
        ('name', 'namespace', 'args', 'ros_args', 'output', 'on_exit', *_RESPAWN, *_CONDITIONS),
        ('param', 'remap', 'env'),
    ),
    'param': ((), ('name', 'value', 'from', 'type'), ()),
    'remap': (('from', 'to'), (), ()),
    'env': (('name', 'value'), (), ()),
}
_INCLUDED_ARGUMENT = (('name', 'value'), (), ())
_VARIABLE = re.compile(r'\$\(var (\w+)\)')
_TYPES: dict[str, type | None] = {'str': str, 'bool': bool, 'int': int, 'float': float, 'yaml': None}


@dataclass(frozen=True, kw_only=True)
class Argument:
    """A declared launch argument.

    Attributes:
        name: As in `name:=value`.
        default: As written, with its `$(...)`; None if a value must be given.
        description: For people.
        choices: Valid values; empty for any.
    """

    name: str
    default: str | None
    description: str
    choices: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Respawn:
    """How a process that ended is started again.

    Attributes:
        delay_s: Wait before that [s].
        max_retries: How many times at most; negative for any number.
    """

    delay_s: float = 0.0
    max_retries: int = -1


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A parameter of a node, or a file of them.

    Attributes:
        name: Of the parameter; empty for a file.
        value: Of the parameter.
        file: Of parameters; None for a single one.
        origin: Where it is given, for messages; empty if the launch argument of its name gives it.
    """

    name: str = ''
    value: Any = None
    file: Path | None = None
    origin: str = ''


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process to start.

    Attributes:
        name: For people.
        command: Program and arguments.
        environment: The whole of it.
        directory: Where it runs; None for the present one.
        ends_all: The launch ends when this process ends.
        is_node: It is a ROS node, which handles signals itself once it has started.
        respawn: Whether it is started again when it ends, and how; None for no.
        package: Of a node.
        executable: Of a node.
        node_name: Given to a node; empty for its own.
        settings: Of a node, in the order in which they count: the last one wins.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    directory: str | None
    ends_all: bool
    is_node: bool
    respawn: Respawn | None = None
    package: str = ''
    executable: str = ''
    node_name: str = ''
    settings: tuple[Setting, ...] = ()


@dataclass(kw_only=True)
class Packages:
    """Where packages are.

    Attributes:
        find_share: Returns a package's share folder; raises SubstitutionError.
        find_executable: Returns the path of a package's executable; raises SubstitutionError.
    """

    find_share: Callable[[str], str]
    find_executable: Callable[[str, str], str]


def check_format(element: Element) -> None:
    """Checks that an element and all below it are in the named part of the format.

    Raises:
        LaunchFileError: Something is not; the message says what would be.
    """
    _check(element, _FORMAT.get(element.tag))


def _check(element: Element, rule: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None) -> None:
    if rule is None:
        raise element.error(f'is not known; known: {", ".join(_FORMAT)}')
    required, optional, children = rule
    for name in element.attributes:
        if name not in required + optional:
            raise element.error(f"has no attribute '{name}'; it has {', '.join(required + optional) or 'none'}")
    for name in required:
        if name not in element.attributes:
            raise element.error(f"needs the attribute '{name}'")
    for child in element.children:
        if child.tag not in children:
            inside = ', '.join(f'<{known}>' for known in children) or 'nothing'
            raise child.error(f'cannot stand inside <{element.tag}>, which holds {inside}')
        _check(child, _INCLUDED_ARGUMENT if element.tag == 'include' else _FORMAT[child.tag])


def read_launch_file(file: Path) -> Element:
    """Reads a launch file and checks its format.

    Raises:
        LaunchFileError: It cannot be read, or holds something that is not in the named part.
    """
    root = read_elements(file)
    if root.tag != 'launch':
        raise root.error('a launch file begins with <launch>')
    check_format(root)
    return root


def declared_arguments(element: Element) -> list[Argument]:
    """Returns the arguments that a launch file declares itself, also in groups."""
    found = []
    for child in element.children:
        if child.tag == 'arg':
            found.append(_argument(child))
        elif child.tag == 'group':
            found += declared_arguments(child)
    return found


def _argument(element: Element) -> Argument:
    return Argument(
        name=element.attributes['name'],
        default=element.attributes.get('default'),
        description=element.attributes.get('description', ''),
        choices=tuple(choice.attributes['value'] for choice in element.children),
    )


def arguments_of(
    file: Path, arguments: Mapping[str, str], *, environment: Mapping[str, str], packages: Packages
) -> list[Argument]:
    """Returns the arguments of a launch file and of those that it includes, given some arguments.

    Raises:
        LaunchFileError: The file is wrong.
    """
    root = read_launch_file(file)
    found = {argument.name: argument for argument in declared_arguments(root)}
    missing = {name: '' for name, argument in found.items() if argument.default is None}
    walk = _Walk(missing | dict(arguments), dict(environment), packages)
    try:
        walk.children(root)
    except LaunchFileError:
        pass  # what is included may hang on an argument that is not given yet
    return list((found | walk.declared).values())


def plan_launch(
    file: Path, arguments: Mapping[str, str], *, environment: Mapping[str, str], packages: Packages
) -> list[Process]:
    """Returns the processes that a launch file asks for.

    Args:
        file: The launch file.
        arguments: Given by the user.
        environment: Of `cobalt up` itself.
        packages: Where packages are.

    Raises:
        LaunchFileError: The file is wrong, or an argument is unknown, missing, or none of the choices.
    """
    walk = _Walk(dict(arguments), dict(environment), packages)
    root = read_launch_file(file)
    walk.declared |= {argument.name: argument for argument in declared_arguments(root)}
    try:
        walk.refuse_missing(root)
        walk.children(root)
    except LaunchFileError:
        # A misspelt argument is the likelier cause of whatever went wrong.
        walk.refuse_unknown(root, arguments)
        raise
    walk.refuse_unknown(root, arguments)
    return walk.processes


@dataclass
class _Walk:
    """Goes through the elements in order, as launch does."""

    variables: dict[str, str]
    environment: dict[str, str]
    packages: Packages
    namespace: str = ''
    declared: dict[str, Argument] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def refuse_missing(self, root: Element) -> None:
        for argument in declared_arguments(root):
            if argument.default is None and argument.name not in self.variables:
                raise LaunchFileError(f"{root.file.name} needs a value for '{argument.name}' ({argument.description})")

    def refuse_unknown(self, root: Element, arguments: Mapping[str, str]) -> None:
        for name in arguments:
            if name not in self.declared:
                known = ', '.join(sorted(self.declared)) or 'none'
                raise LaunchFileError(f"{root.file.name} has no argument '{name}'; it has {known}")

    def children(self, element: Element) -> None:
        for child in element.children:
            if self._wanted(child):
                getattr(self, f'_{child.tag.replace("-", "_")}')(child)

    def _values(self, element: Element) -> Values:
        return Values(
            variables=self.variables,
            environment=self.environment,
            directory=str(element.file.parent),
            find_share=self.packages.find_share,
        )

    def _text(self, element: Element, text: str) -> str:
        try:
            return substitute(text, self._values(element))
        except SubstitutionError as error:
            raise element.error(str(error)) from error

    def _attribute(self, element: Element, name: str, default: str = '') -> str:
        return self._text(element, element.attributes[name]) if name in element.attributes else default

    def _wanted(self, element: Element) -> bool:
        if 'if' in element.attributes and 'unless' in element.attributes:
            raise element.error("has both 'if' and 'unless'; use one")
        for name in _CONDITIONS:
            if name in element.attributes:
                return self._truth(element, name) is (name == 'if')
        return True

    def _truth(self, element: Element, name: str) -> bool:
        value = self._attribute(element, name)
        if value.strip().lower() in ('true', '1'):
            return True
        if value.strip().lower() in ('false', '0'):
            return False
        raise element.error(f"'{name}' is {value!r}, but must be true or false")

    def _arg(self, element: Element) -> None:
        name = element.attributes['name']
        self.declared.setdefault(name, _argument(element))
        if name not in self.variables:
            if 'default' not in element.attributes:
                raise element.error(f"needs a value for '{name}'")
            self.variables[name] = self._attribute(element, 'default')
        choices = [choice.attributes['value'] for choice in element.children]
        if choices and self.variables[name] not in choices:
            raise LaunchFileError(
                f"argument '{name}' is {self.variables[name]!r}, but must be one of {', '.join(choices)}"
            )

    def _let(self, element: Element) -> None:
        self.variables[self._attribute(element, 'name')] = self._attribute(element, 'value')

    def _set_env(self, element: Element) -> None:
        self.environment[self._attribute(element, 'name')] = self._attribute(element, 'value')

    def _push_ros_namespace(self, element: Element) -> None:
        self.namespace = _join_namespaces(self.namespace, self._attribute(element, 'namespace'))

    def _group(self, element: Element) -> None:
        if 'scoped' in element.attributes and not self._truth(element, 'scoped'):
            self.children(element)
            return
        before = dict(self.variables), dict(self.environment), self.namespace
        self.children(element)
        self.variables, self.environment, self.namespace = before

    def _include(self, element: Element) -> None:
        file = Path(self._attribute(element, 'file'))
        if file in self.files:
            raise element.error(f'{file} includes itself')
        if len(self.files) >= MAX_DEPTH:
            raise element.error(f'files include each other more than {MAX_DEPTH} deep')
        for argument in element.children:
            self.variables[self._attribute(argument, 'name')] = self._attribute(argument, 'value')
        try:
            root = read_launch_file(file)
        except LaunchFileError as error:
            raise element.error(str(error)) if not file.is_file() else error from None
        self.refuse_missing(root)
        self.files.append(file)
        self.children(root)
        self.files.pop()

    def _executable(self, element: Element) -> None:
        command = self._words(element, 'cmd')
        if not command:
            raise element.error("'cmd' is empty")
        self._add(element, self._attribute(element, 'name') or Path(command[0]).name, command)

    def _node(self, element: Element) -> None:
        package, executable = self._attribute(element, 'pkg'), self._attribute(element, 'exec')
        try:
            command = [self.packages.find_executable(package, executable)]
        except SubstitutionError as error:
            raise element.error(str(error)) from error
        command += self._words(element, 'args')
        if 'ros_args' in element.attributes:
            command += ['--ros-args', *self._words(element, 'ros_args')]
        command.append('--ros-args')
        name = self._attribute(element, 'name')
        if name:
            command += ['-r', f'__node:={name}']
        namespace = _join_namespaces(self.namespace, self._attribute(element, 'namespace'))
        if namespace:
            command += ['-r', f'__ns:={namespace}']
        settings = []
        for child in element.children:
            if child.tag == 'param':
                setting = self._parameter(child)
                settings.append(setting)
                command += _as_words(setting)
            elif child.tag == 'remap':
                command += ['-r', f'{self._attribute(child, "from")}:={self._attribute(child, "to")}']
        self._add(element, name or executable, command)
        self.processes[-1] = replace(
            self.processes[-1], package=package, executable=executable, node_name=name, settings=tuple(settings)
        )

    def _parameter(self, element: Element) -> Setting:
        if ('from' in element.attributes) == ('name' in element.attributes):
            raise element.error("has either 'name' and 'value', or 'from'")
        if 'from' in element.attributes:
            file = self._attribute(element, 'from')
            if not Path(file).is_file():
                raise element.error(f'there is no file {file}')
            return Setting(file=Path(file))
        if 'value' not in element.attributes:
            raise element.error("needs the attribute 'value'")
        kind = element.attributes.get('type', 'yaml')
        if kind not in _TYPES:
            raise element.error(f"'type' is {kind!r}, but must be one of {', '.join(_TYPES)}")
        name = self._attribute(element, 'name')
        try:
            value = typed_value(self._attribute(element, 'value'), _TYPES[kind])
        except ValueError as error:
            raise element.error(f"parameter '{name}': {error}") from error
        variable = _VARIABLE.fullmatch(element.attributes['value'])
        if variable is None:
            origin = f'{element.file}:{element.line}'
        else:
            origin = f"argument '{variable[1]}'" if variable[1] != name else ''
        return Setting(name=name, value=value, origin=origin)

    def _words(self, element: Element, name: str) -> list[str]:
        """Splits a command line: at spaces of the file itself, never inside what a `$(...)` stands for."""
        if name not in element.attributes:
            return []
        marked = ''
        stored: list[str] = []
        try:
            for from_substitution, text in fragments(element.attributes[name], self._values(element)):
                if from_substitution:
                    marked += f'\x00{len(stored)}\x00'
                    stored.append(text)
                else:
                    marked += text
            words = shlex.split(marked)
        except (SubstitutionError, ValueError) as error:
            raise element.error(f"'{name}': {error}") from error
        for index, text in enumerate(stored):
            words = [word.replace(f'\x00{index}\x00', text) for word in words]
        return words

    def _add(self, element: Element, name: str, command: Iterable[str]) -> None:
        on_exit = element.attributes.get('on_exit')
        if on_exit not in (None, 'shutdown'):
            raise element.error(f"'on_exit' is {on_exit!r}, but must be shutdown")
        environment = dict(self.environment)
        for child in element.children:
            if child.tag == 'env':
                environment[self._attribute(child, 'name')] = self._attribute(child, 'value')
        self.processes.append(
            Process(
                name=name,
                command=tuple(command),
                environment=environment,
                directory=self._attribute(element, 'cwd') or None,
                ends_all=on_exit == 'shutdown',
                is_node=element.tag == 'node',
                respawn=self._respawn(element),
            )
        )

    def _respawn(self, element: Element) -> Respawn | None:
        # As in launch, `respawn` may be a $(...), and the two others are numbers.
        if 'respawn' not in element.attributes or not self._truth(element, 'respawn'):
            return None
        delay_s = _number(element, 'respawn_delay', 0.0)
        max_retries = _number(element, 'respawn_max_retries', -1.0)
        if not 0.0 <= delay_s < math.inf:
            raise element.error(f"'respawn_delay' is {delay_s:g}, but must be 0 or more")
        if not max_retries.is_integer():
            raise element.error(f"'respawn_max_retries' is {max_retries:g}, but must be a whole number")
        return Respawn(delay_s=delay_s, max_retries=int(max_retries))


def _as_words(setting: Setting) -> list[str]:
    """Returns a parameter, or a file of them, as a node's command line has it."""
    if setting.file is not None:
        return ['--params-file', str(setting.file)]
    return ['-p', f'{setting.name}:={json.dumps(setting.value, ensure_ascii=False)}']


def _number(element: Element, name: str, default: float) -> float:
    text = element.attributes.get(name)
    try:
        return default if text is None else float(text)
    except ValueError:
        raise element.error(f"'{name}' is {text!r}, but must be a number") from None


def typed_value(text: str, wanted: type | None) -> Any:
    """Returns a parameter's value by the rules of YAML, or of a named type.

    Raises:
        ValueError: It is no value of that type, or none that a parameter can have.
    """
    if wanted is str or not text:
        return text
    if wanted in (int, float):
        return wanted(text)
    if wanted is bool:
        text = {'1': 'true', '0': 'false'}.get(text, text)
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f'{text[:200]!r} is no value by the rules of YAML: quote it if it is a text') from error
    if wanted is bool and not isinstance(value, bool):
        raise ValueError(f'{text!r} is neither true nor false')
    kinds = {type(part) for part in value} if isinstance(value, list) else {type(value)}
    if len(kinds) != 1 or not kinds <= {bool, int, float, str}:
        raise ValueError(
            f'{text!r} is {type(value).__name__}: a parameter is a text, number, truth, or a list of one kind'
        )
    return value


def _join_namespaces(first: str, second: str) -> str:
    if not second or second.startswith('/'):
        return second.rstrip('/') or first
    return f'{first.rstrip("/")}/{second}'.rstrip('/')
