"""The file metadata.yaml that makes a folder a rosbag2 bag (version 9 of that format)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cobalt_recorder.offered_qos import OfferedQos
from cobalt_recorder.yaml_text import parse_yaml

FILE_NAME = 'metadata.yaml'


@dataclass
class TopicEntry:
    """One topic of a bag.

    Attributes:
        name: Full name.
        type: ROS type.
        qos: What its publishers offered.
        type_hash: RIHS01 hash of the type; empty if unknown.
        count: Messages written.
    """

    name: str
    type: str
    qos: tuple[OfferedQos, ...] = ()
    type_hash: str = ''
    count: int = 0


@dataclass
class FileEntry:
    """One storage file of a bag.

    Attributes:
        name: In the bag's folder.
        start_ns: Receive time of the first message [ns]; 0 if there is none.
        end_ns: Receive time of the last message [ns].
        count: Messages in it.
    """

    name: str
    start_ns: int = 0
    end_ns: int = 0
    count: int = 0

    def note(self, received_ns: int) -> None:
        """Counts a message."""
        self.start_ns = min(self.start_ns, received_ns) if self.start_ns else received_ns
        self.end_ns = max(self.end_ns, received_ns)
        self.count += 1


@dataclass
class BagMetadata:
    """What metadata.yaml says.

    Attributes:
        files: In the order in which they were written.
        topics: In the order in which they were added.
        custom: Free texts by name.
    """

    files: list[FileEntry]
    topics: list[TopicEntry] = field(default_factory=list)
    custom: dict[str, str] = field(default_factory=dict)

    def as_rosbag2(self) -> dict[str, Any]:
        """Returns the content of metadata.yaml."""
        count = sum(topic.count for topic in self.topics)
        start_ns = min((file.start_ns for file in self.files if file.count), default=0)
        end_ns = max((file.end_ns for file in self.files if file.count), default=0)
        return {
            'rosbag2_bagfile_information': {
                'version': 9,
                'storage_identifier': 'mcap',
                **_span(start_ns, end_ns),
                'message_count': count,
                'topics_with_message_count': [
                    {
                        'topic_metadata': {
                            'name': topic.name,
                            'type': topic.type,
                            'serialization_format': 'cdr',
                            'offered_qos_profiles': [profile.as_rosbag2() for profile in topic.qos],
                            'type_description_hash': topic.type_hash,
                        },
                        'message_count': topic.count,
                    }
                    for topic in self.topics
                ],
                'compression_format': '',
                'compression_mode': '',
                'relative_file_paths': [file.name for file in self.files],
                'files': [
                    {'path': file.name, **_span(file.start_ns, file.end_ns), 'message_count': file.count}
                    for file in self.files
                ],
                'custom_data': dict(self.custom),
                'ros_distro': os.environ.get('ROS_DISTRO', 'unknown'),
            }
        }

    def write(self, folder: Path) -> None:
        """Writes or replaces metadata.yaml in one step, so that no reader ever sees half of it."""
        write_atomically(folder / FILE_NAME, yaml.safe_dump(self.as_rosbag2(), sort_keys=False))


def _span(start_ns: int, end_ns: int) -> dict[str, dict[str, int]]:
    return {
        'starting_time': {'nanoseconds_since_epoch': start_ns},
        'duration': {'nanoseconds': max(0, end_ns - start_ns)},
    }


def read_metadata(folder: Path) -> Mapping[str, Any]:
    """Returns `rosbag2_bagfile_information` of a bag's folder.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not rosbag2's metadata.
    """
    try:
        content = parse_yaml((folder / FILE_NAME).read_text(encoding='utf-8'))
        information = content['rosbag2_bagfile_information']
    except (yaml.YAMLError, KeyError, TypeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f'{folder / FILE_NAME} is not the metadata of a rosbag2 bag') from error
    if not isinstance(information, dict):
        raise ValueError(f'{folder / FILE_NAME} is not the metadata of a rosbag2 bag')
    return information


def storage_files(information: Mapping[str, Any]) -> Sequence[str]:
    """Returns the names of a bag's storage files."""
    return [str(name) for name in information.get('relative_file_paths') or ()]


def write_atomically(path: Path, text: str) -> None:
    """Replaces a file by `text` in one step, durable when this returns."""
    temporary = path.with_name(f'.{path.name}.new')
    with temporary.open('w', encoding='utf-8') as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes new and renamed entries of a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
