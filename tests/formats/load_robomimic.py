"""Loads round_trip.py's export with robomimic's own loader; runs in an environment of its own."""

import sys

import robomimic.utils.file_utils as file_utils
import robomimic.utils.obs_utils as obs_utils
from robomimic.utils.dataset import SequenceDataset

LOW = ['arm_eef_pos', 'arm_eef_quat', 'arm_gripper']
obs_utils.initialize_obs_utils_with_obs_specs({'obs': {'low_dim': LOW, 'rgb': ['front_image']}, 'goal': {}})
path = sys.argv[1]
assert file_utils.get_env_metadata_from_dataset(path)['env_name'] == 'Cobalt'
shapes = file_utils.get_shape_metadata_from_dataset(path, all_obs_keys=[*LOW, 'front_image'])
assert shapes['ac_dim'] == 8 and shapes['use_images']
counts = {}
for mask in ('train', 'valid', 'accept'):
    data = SequenceDataset(
        path,
        obs_keys=[*LOW, 'front_image'],
        dataset_keys=['actions', 'rewards', 'dones'],
        load_next_obs=True,
        seq_length=10,
        hdf5_cache_mode=None,
        filter_by_attribute=mask,
    )
    item = data[5]
    assert item['actions'].shape == (10, 8) and item['next_obs']['front_image'].shape[0] == 10
    counts[mask] = data.n_demos
assert counts == {'train': 2, 'valid': 1, 'accept': 3}
print(f'robomimic: demonstrations by mask {counts}')
