"""The picture of what is to be done, as pages get it."""

import hashlib
from dataclasses import dataclass
from typing import Any

from cobalt_teleop.bridge.wire.page_events import Event
from cobalt_teleop.core.picture_file import MAX_GOAL_BYTES, picture_format


@dataclass(frozen=True)
class GoalPicture:
    """A picture that may be sent to a browser.

    Attributes:
        data: The file.
        content_type: image/jpeg or image/png, whatever its publisher says of it.
        version: Another one for each other picture.
    """

    data: bytes
    content_type: str
    version: str


def goal_picture(message: Any) -> GoalPicture | None:
    """Returns the picture of a CompressedImage; None if it is neither JPEG nor PNG, or too large."""
    data = bytes(message.data)
    kind = picture_format(data)
    if not kind or len(data) > MAX_GOAL_BYTES:
        return None
    return GoalPicture(data, f'image/{kind}', hashlib.sha256(data).hexdigest()[:16])


def goal_event(workcell_id: str, picture: GoalPicture | None) -> Event:
    """Which picture a page may load from `/goal/<workcell>`; without a version there is none."""
    return {'type': 'goal', 'workcell': workcell_id, 'version': picture.version if picture is not None else ''}
