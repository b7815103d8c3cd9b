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
    steps, start_s, start_cpu_s = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - start_s < options.seconds:
        env.step(rng.uniform(low, high))
        steps += 1
    passed_s, cpu_s = time.perf_counter() - start_s, time.process_time() - start_cpu_s
    print(json.dumps({'steps_per_s': steps / passed_s, 'steps_per_cpu_s': steps / cpu_s}))


if __name__ == '__main__':
    main()
