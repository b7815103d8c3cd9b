"""Exports a small data set, and loads it with lerobot's and robomimic's own loaders: `make test-formats`.

The loaders live in a virtual environment of their own, which takes 9 GB, as PyPI's torch brings CUDA along. It is made
once, in build/formats or in the folder that COBALT_FORMATS_VENV names.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
VENV = Path(os.environ.get('COBALT_FORMATS_VENV', ROOT / 'build' / 'formats'))
EPISODES = 3
ROWS = 61

sys.path.insert(0, str(ROOT / 'cobalt_recorder' / 'test'))


def loaders_python() -> Path:
    """Returns the Python that has the loaders; installs them if need be."""
    python = VENV / 'bin' / 'python'
    wanted = (HERE / 'requirements.txt').read_text()
    done = VENV / 'installed.txt'
    if not done.exists() or done.read_text() != wanted:
        print(f'installing lerobot and robomimic into {VENV}: 9 GB, some minutes', flush=True)
        subprocess.run([sys.executable, '-m', 'venv', VENV], check=True)
        pip = [python, '-m', 'pip', 'install', '--disable-pip-version-check', '-q']
        lines = [line for line in wanted.splitlines() if not line.startswith('#')]
        subprocess.run([*pip, *(line for line in lines if 'robomimic' not in line)], check=True)
        # Its requirement egl_probe is for rendering alone, and does not build with a new CMake.
        robomimic = next(line for line in lines if 'robomimic' in line)
        subprocess.run([*pip, 'h5py', 'tensorboardX', 'imageio-ffmpeg'], check=True)
        subprocess.run([*pip, '--no-deps', robomimic], check=True)
        done.write_text(wanted)
    return python


def make_data_set(folder: Path) -> None:
    """Writes small bags with verdicts."""
    from small_bag import write_bag

    from cobalt_recorder.judge import judge_bag
    from cobalt_recorder.rules_file import load_rules, shipped_rules

    for index in range(EPISODES):
        bag = write_bag(folder / 'lift' / f'episode_{index}', count=ROWS).parent
        judge_bag(bag, load_rules(shipped_rules()))[1].write(bag)


def main() -> int:
    """Entry point; returns 0 if both loaders read what was exported."""
    python = loaders_python()
    offline = {**os.environ, 'HF_HUB_OFFLINE': '1', 'PYTHONPATH': ''}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_data_set(folder / 'data')
        for form, output in (('lerobot', folder / 'lerobot'), ('robomimic', folder / 'data.hdf5')):
            command = ['cobalt', 'export', folder / 'data', '--format', form, '-o', output, '--valid-share', '0.34']
            subprocess.run(command, check=True)
            loaded = subprocess.run([python, HERE / f'load_{form}.py', output], env=offline, check=False)
            if loaded.returncode:
                print(f'{form}: its own loader does not read the export', file=sys.stderr)
                return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
