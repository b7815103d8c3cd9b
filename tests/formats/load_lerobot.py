"""Loads round_trip.py's export with lerobot's own loader; runs in an environment of its own."""

import sys

import torch
from lerobot.datasets.compute_stats import aggregate_stats
from lerobot.datasets.lerobot_dataset import LeRobotDataset

EPISODES, ROWS = 3, 61

data = LeRobotDataset('local/cobalt', root=sys.argv[1], video_backend='pyav')
assert (len(data), data.num_episodes, data.fps) == (EPISODES * ROWS, EPISODES, 20)
names = data.features['observation.state']['names']
for index in (0, 30, 60, 61 + 17, len(data) - 1):
    item = data[index]
    share = (index % ROWS) / (ROWS - 1)
    x = 0.3 * (10 * share**3 - 15 * share**4 + 6 * share**5)
    assert abs(float(item['observation.state'][names.index('arm.x')]) - x) < 1e-6
    picture = item['observation.images.front']
    assert tuple(picture.shape) == (3, 48, 64)
    assert abs(float(picture[:, :, -1].mean()) * 255 - index % ROWS * 3) < 12
    assert item['task'] == 'lift' or isinstance(item['task'], str)
windows = LeRobotDataset(
    'local/cobalt',
    root=sys.argv[1],
    video_backend='pyav',
    episodes=[1],
    delta_timestamps={'action': [0.0, 0.05, 0.1], 'observation.images.front': [-0.05, 0.0]},
)
batch = next(iter(torch.utils.data.DataLoader(windows, batch_size=4, shuffle=True)))
assert tuple(batch['action'].shape) == (4, 3, 8)
assert tuple(batch['observation.images.front'].shape) == (4, 2, 3, 48, 64)
aggregate_stats([data.meta.stats])
print(f'lerobot: {len(data)} frames of {data.num_episodes} episodes, one batch of windows')
