"""The Fast DDS profile of several machines: which of them talk to each other, and no others."""

import ipaddress
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from cobalt_bringup.packages import INSTALLED
from cobalt_teleop.core.errors import CobaltError

LOOPBACK = '127.0.0.1'
PORTS_OF_DOMAIN = 250

_NAMESPACE = 'http://www.eprosima.com'
_ADDRESSES = f'.//{{{_NAMESPACE}}}interfaceWhiteList'
_PEERS = f'.//{{{_NAMESPACE}}}initialPeersList'


class MachinesError(CobaltError):
    """A list of machines, or a profile, cannot be used."""


def first_port(domain: int) -> int:
    """Returns the first of the 250 UDP ports of a ROS domain (RTPS 2.2, 9.6.1.1)."""
    return 7400 + PORTS_OF_DOMAIN * domain


def checked_addresses(addresses: Sequence[str]) -> list[str]:
    """Returns the addresses of machines, each once.

    Raises:
        MachinesError: One is no IPv4 address that others can reach.
    """
    found = []
    for text in addresses:
        try:
            address = ipaddress.IPv4Address(text)
        except ValueError:
            raise MachinesError(f"'{text}' is no IPv4 address, such as 192.168.1.20") from None
        if address.is_loopback or address.is_unspecified or address.is_multicast:
            raise MachinesError(f"'{text}' is no address at which other machines find this one")
        if text not in found:
            found.append(text)
    if not found:
        raise MachinesError('no address is given: name those of all machines, this one included')
    return found


def machines_profile(addresses: Sequence[str], *, peers: Sequence[str] | None = None, participant: int = -1) -> str:
    """Returns the profile, as XML.

    Args:
        addresses: Of all machines, this one included.
        peers: Those that are asked who is there; all, and this machine itself, by default.
        participant: Number of the process on its machine; -1 for the next that is free.

    Raises:
        MachinesError: An address cannot be used.
    """
    addresses = checked_addresses(addresses)
    ElementTree.register_namespace('', _NAMESPACE)
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    template = Path(INSTALLED.find_share('cobalt_bringup')) / 'config' / 'fastdds_machines.xml'
    tree = ElementTree.parse(template, parser)
    listed = _emptied(tree, _ADDRESSES)
    for address in (LOOPBACK, *addresses):
        ElementTree.SubElement(listed, 'address').text = address
    asked = _emptied(tree, _PEERS)
    for address in (LOOPBACK, *addresses) if peers is None else peers:
        locator = ElementTree.SubElement(asked, 'locator')
        ElementTree.SubElement(ElementTree.SubElement(locator, 'udpv4'), 'address').text = address
    if participant >= 0:
        rtps = tree.find(f'.//{{{_NAMESPACE}}}rtps')
        assert rtps is not None
        ElementTree.SubElement(rtps, 'participantID').text = str(participant)
    root = tree.getroot()
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding='unicode')
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def machines_of(profile: Path) -> list[str]:
    """Returns the machines of a profile; none if it is one for a single machine.

    Raises:
        MachinesError: It cannot be read.
    """
    try:
        peers = ElementTree.parse(profile).find(_PEERS)
    except (OSError, ElementTree.ParseError) as error:
        raise MachinesError(f'the profile {str(profile)!r} cannot be read: {error}') from error
    texts = [] if peers is None else [element.text or '' for element in peers.iter(f'{{{_NAMESPACE}}}address')]
    return [text.strip() for text in texts if text.strip() != LOOPBACK]


def _emptied(tree: 'ElementTree.ElementTree[ElementTree.Element]', path: str) -> ElementTree.Element:
    element = tree.find(path)
    assert element is not None
    for child in list(element):
        element.remove(child)
    return element
