"""Robots: one folder each, with robot.yaml, the MuJoCo model, meshes, licence and the script that made them."""
