"""Fits a small network to demonstrations; runs in an environment of its own, with scikit-learn.

Reads one .npz with `inputs` (n, i) and `outputs` (n, o), writes the network's weights as another.
"""

import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

source, result, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = np.load(source)
warnings.simplefilter('ignore', ConvergenceWarning)
network = MLPRegressor(
    hidden_layer_sizes=(128, 128), activation='relu', batch_size=256, max_iter=200, random_state=seed
)
network.fit(data['inputs'], data['outputs'])
layers = {f'weights_{place}': one for place, one in enumerate(network.coefs_)}
layers |= {f'biases_{place}': one for place, one in enumerate(network.intercepts_)}
np.savez(result, **layers)
