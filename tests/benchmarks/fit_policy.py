"""Fits some small networks, whose answers are averaged, to demonstrations; in an environment of its own.

Reads one .npz with `inputs` (n, i) and `outputs` (n, o), writes the networks' weights as another. Needs scikit-learn.
"""

import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

NETWORKS = 5

source, result, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = np.load(source)
warnings.simplefilter('ignore', ConvergenceWarning)
stored = {}
for number in range(NETWORKS):
    network = MLPRegressor(
        hidden_layer_sizes=(128, 128), alpha=1e-3, batch_size=256, max_iter=150, random_state=NETWORKS * seed + number
    )
    network.fit(data['inputs'], data['outputs'])
    for place, (weights, biases) in enumerate(zip(network.coefs_, network.intercepts_, strict=True)):
        stored[f'{number}.{place}.weights'], stored[f'{number}.{place}.biases'] = weights, biases
np.savez(result, **stored)
