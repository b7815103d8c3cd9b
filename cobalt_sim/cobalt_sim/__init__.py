"""Simulated workcells: scenes, tasks, rendering, and the node that hosts them."""
