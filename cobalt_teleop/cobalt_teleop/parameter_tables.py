"""What the nodes of this package can be told, for who checks before they start: executable, node, table."""

from cobalt_teleop.bridge.bridge_parameters import BridgeParameters
from cobalt_teleop.foxglove.foxglove_parameters import FoxgloveParameters

TABLES = {
    'webrtc_bridge': {'webrtc_bridge': BridgeParameters},
    'foxglove_server': {'foxglove_server': FoxgloveParameters},
}
