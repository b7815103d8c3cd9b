"""Steps robosuite's own Lift for a while; runs in an environment of its own and prints steps a second as JSON.

Its timestep (2 ms), 25 substeps a step, its stock controller and contacts are left as they are.
"""

import argparse
import json
import os
import time

os.environ.setdefault('MUJOCO_GL', 'egl')

import numpy as np
import robosuite


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=float, required=True)
    parser.add_argument('--pictures', action='store_true')
    options = parser.parse_args()
    env = robosuite.make(
        'Lift',
        robots='Panda',
        has_renderer=False,
        has_offscreen_renderer=options.pictures,
        use_camera_obs=options.pictures,
        camera_names='agentview',
        camera_heights=84,
        camera_widths=84,
        control_freq=20,
        horizon=10**9,
    )
    env.reset()
    rng = np.random.default_rng(0)
    low, high = env.action_spec
    for _ in range(5):
        env.step(rng.uniform(low, high))
    steps, start_s = 0, time.perf_counter()
    while time.perf_counter() - start_s < options.seconds:
        env.step(rng.uniform(low, high))
        steps += 1
    print(json.dumps({'steps_per_s': steps / (time.perf_counter() - start_s), 'version': robosuite.__version__}))


if __name__ == '__main__':
    main()
