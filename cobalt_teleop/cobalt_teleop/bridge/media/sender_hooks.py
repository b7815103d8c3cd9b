"""Two things that aiortc's RTCRtpSender keeps to itself, for tracks that deliver encoded packets.

Both reach into private names of aiortc 1.16; `test_encoded_track.py` says so if another version has moved them.
"""

from collections.abc import Callable

from aiortc import RTCRtpSender


def on_key_frame_request(sender: RTCRtpSender, ask: Callable[[], None]) -> None:
    """Has `ask` called when the peer sends PLI or FIR: the sender itself only notes that for an encoder of its own."""
    setattr(sender, '_send_keyframe', ask)  # noqa: B010


def last_rtp_timestamp(sender: RTCRtpSender) -> int:
    """Returns the RTP timestamp of the packet sent last: the frame's time plus the offset that the sender drew."""
    return int(getattr(sender, '_RTCRtpSender__rtp_timestamp'))  # noqa: B009
