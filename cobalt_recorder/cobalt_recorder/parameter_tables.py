"""What the nodes of this package can be told, for who checks before they start: executable, node, table."""

from cobalt_recorder.recorder_parameters import RecorderParameters

TABLES = {'recorder_node': {'recorder_node': RecorderParameters}}
