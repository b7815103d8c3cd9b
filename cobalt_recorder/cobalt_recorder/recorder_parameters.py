"""What recorder_node can be told."""

from dataclasses import dataclass

from cobalt_teleop.core.parameter_table import parameter


@dataclass(frozen=True, kw_only=True)
class RecorderParameters:
    """Parameters of recorder_node."""

    dataset: str = parameter('~/cobalt_datasets', 'folder of all bags: <dataset>/<task>/<episode id>; made if absent')
    workcells: tuple[str, ...] = parameter((), 'workcells to record, such as env_0 or env_*; empty for all')
    min_free_mb: int = parameter(500, 'free disk space below which no episode starts [MB]', lower=1, upper=10_000_000)
    queue_mb: int = parameter(256, 'what may wait for the disk, for each workcell [MB]', lower=1, upper=4096)
    pre_roll_s: float = parameter(
        0.0,
        'what came so long before an episode is in its bag too [s]; cameras are then on all the time',
        lower=0.0,
        upper=60.0,
    )
    split_mb: int = parameter(
        2000, 'a bag goes on in another file once one has grown so long [MB]; 0 for never', lower=0, upper=10_000_000
    )
    rules: str = parameter('', 'file of the quality rules; empty for the shipped one')
