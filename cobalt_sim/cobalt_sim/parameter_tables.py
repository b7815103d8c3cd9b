"""What the nodes of this package can be told, for who checks before they start: executable, node, table."""

from cobalt_sim.sim_parameters import SimParameters

TABLES = {'sim_node': {'sim': SimParameters}}
