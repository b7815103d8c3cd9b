"""Elements of an XML file with their places, so that a message can point at the line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from cobalt_teleop.core.errors import CobaltError

MAX_DEPTH = 32
"""How deep elements, and files, may be nested."""


class LaunchFileError(CobaltError):
    """A launch file, or an argument given to it, cannot be used."""


@dataclass
class Element:
    """One element of a launch file.

    Attributes:
        tag: Its name.
        attributes: As written.
        children: In order.
        file: File it stands in.
        line: Counted from 1.
    """

    tag: str
    attributes: Mapping[str, str]
    file: Path
    line: int
    children: list['Element'] = field(default_factory=list)

    def error(self, message: str) -> LaunchFileError:
        """Returns an error that names this element's place."""
        return LaunchFileError(f'{self.file}:{self.line}: <{self.tag}>: {message}')


def read_elements(file: Path) -> Element:
    """Reads an XML file.

    Returns:
        Its outermost element.

    Raises:
        LaunchFileError: The file cannot be read, or is no XML.
    """
    try:
        text = file.read_bytes()
    except OSError as error:
        raise LaunchFileError(f'{file} cannot be read: {error.strerror}') from error
    parser = expat.ParserCreate()
    open_elements: list[Element] = []
    roots: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, file, parser.CurrentLineNumber)
        if len(open_elements) >= MAX_DEPTH:
            raise element.error(f'is nested more than {MAX_DEPTH} deep')
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def end(_tag: str) -> None:
        open_elements.pop()

    def characters(content: str) -> None:
        if content.strip():
            raise open_elements[-1].error(f'text {content.strip()[:40]!r} has no meaning here')

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise LaunchFileError(f'{file}:{error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}') from error
    return roots[0]
