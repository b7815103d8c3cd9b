"""The video of one camera: one encoder for each codec that somebody watches."""

from dataclasses import dataclass

from rclpy.node import Node

from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.ros.stamps import to_stamp
from cobalt_teleop.video.encoded_topic import EncodedTopic
from cobalt_teleop.video.picture_rate import RateEstimate
from cobalt_teleop.video.picture_size import fit
from cobalt_teleop.workcell_host.plant import Picture


@dataclass(frozen=True)
class VideoLimits:
    """How large a camera's video may be. May be changed at any time: the next frame is a key frame.

    Attributes:
        kbit_s: Upper bound of the bit rate of each codec [kbit/s].
        size_px: Width and height into which pictures are scaled down.
    """

    kbit_s: int
    size_px: tuple[int, int] = (1 << 16, 1 << 16)


class VideoStream:
    """Encodes pictures and publishes them as CompressedVideo, in the codecs that are subscribed to.

    Called from worker threads, one at a time; the limits may be set from any thread.

    Args:
        node: Owns the endpoints.
        workcell_id: Namespace of the topics.
        camera: Its name.
        rate_hz: Pictures a second, until they are counted [Hz].
        limits: How large it may be.
    """

    def __init__(self, node: Node, workcell_id: str, camera: str, rate_hz: float, limits: VideoLimits) -> None:
        self._topics = {codec: EncodedTopic(node, workcell_id, camera, codec) for codec in topics.VIDEO_CODECS}
        self._requests = TakenSubscription(node, topics.request_key_frame(camera), workcell_id)
        self._rate = RateEstimate(rate_hz)
        self.limits = limits

    def wanted(self) -> bool:
        """Returns whether somebody subscribes."""
        # Every topic is asked: each notes by it that its last viewer has gone.
        wanted = [topic.wanted() for topic in self._topics.values()]
        return any(wanted)

    def codecs(self) -> list[str]:
        """Returns the codecs that have an encoder."""
        return [codec for codec, topic in self._topics.items() if topic.encoder is not None]

    def publish(self, picture: Picture, stamp_ns: int) -> bool:
        """Encodes and publishes a picture if somebody subscribes.

        Args:
            picture: (height, width, 3) RGB.
            stamp_ns: Time of the state that it shows [ns].

        Returns:
            Whether it was published.
        """
        if not self.wanted():
            return False
        self._rate.note(stamp_ns)
        if self._requests.take() is not None:
            for topic in self._topics.values():
                topic.ask_key_frame()
        limits, stamp = self.limits, to_stamp(stamp_ns)
        fitting = fit(picture, *limits.size_px)
        sent = [topic.publish(fitting, stamp, self._rate.hz, limits.kbit_s) for topic in self._topics.values()]
        return any(sent)

    def close(self) -> None:
        """Destroys the publishers and forgets the encoders."""
        for topic in self._topics.values():
            topic.close()
        self._requests.close()
