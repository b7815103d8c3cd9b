"""What the nodes of this package can be told, for who checks before they start: executable, node, table."""

from cobalt_sim.hardware.mujoco_hardware_parameters import MujocoHardwareParameters
from cobalt_sim.sim_parameters import SimParameters

TABLES = {'sim_node': {'sim': SimParameters}, 'mujoco_hardware': {'mujoco_hardware': MujocoHardwareParameters}}
