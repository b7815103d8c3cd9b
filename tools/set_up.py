"""Sets Cobalt up on a machine without ROS 2: a virtual environment, pinned packages, system packages, the colcon build.

Needs Python alone. What is done is remembered by a hash of what it was made from, so a later call takes no time.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / '.venv'
LOGS = ROOT / 'log' / 'setup'
VERSIONS = ((3, 11), (3, 12), (3, 13))
CANDIDATES = ('python3', 'python3.12', 'python3.11', 'python3.13')

SYSTEM_PACKAGES = ('g++', 'libegl1', 'libgl1-mesa-dri', 'libosmesa6')
TEST_PACKAGES = ('coturn', 'iproute2', 'nftables')
BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')
ALWAYS = ('requirements-ros.txt', 'requirements.txt')
NPM_FILES = (ROOT / 'tools' / 'npm' / 'package.json', ROOT / 'tools' / 'npm' / 'package-lock.json')


class SetupError(Exception):
    """Set-up cannot go on; the message says what to do."""


def say(text: str) -> None:
    """Prints a line at once."""
    print(f'set-up: {text}', flush=True)


def run(command: 'list[str]', log: str, *, env: 'dict[str, str] | None' = None) -> None:
    """Runs a command with its output in a file.

    Raises:
        SetupError: It failed; the message holds the end of its output.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    file = LOGS / log
    with file.open('w') as output:
        output.write(f'$ {" ".join(command)}\n')
        output.flush()
        code = subprocess.call(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=env, cwd=ROOT
        )
    if code != 0:
        lines = file.read_text(errors='replace').splitlines()
        problems = [line for line in lines if 'error' in line.lower()][:10]
        tail = '\n'.join(f'    {line}' for line in [*problems, '...', *lines[-15:]])
        raise SetupError(f'this failed (exit code {code}): {" ".join(command[:6])} ...\n{tail}\nAll of it: {file}')


def python_of(command: str) -> 'tuple[str, tuple[int, int]] | None':
    """Returns the path and version of a Python, or None if it does not run."""
    path = shutil.which(command)
    if path is None:
        return None
    code = 'import sys; print(sys.executable, *sys.version_info[:2])'
    answer = subprocess.run([path, '-c', code], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        return None
    executable, major, minor = answer.stdout.strip().rsplit(' ', 2)
    return executable, (int(major), int(minor))


def pick_python() -> str:
    """Returns a Python that the wheels exist for.

    Raises:
        SetupError: There is none.
    """
    own = sys.version_info[:2]
    if own in VERSIONS:
        return sys.executable
    seen = [f'{sys.executable} is {own[0]}.{own[1]}']
    for command in CANDIDATES:
        found = python_of(command)
        if found is not None and found[1] in VERSIONS:
            return found[0]
    raise SetupError(
        f'Cobalt needs Python 3.11, 3.12 or 3.13 ({"; ".join(seen)}). '
        'Install one, and name it: PYTHON=/path/to/python3.12 make run'
    )


def digest(paths: 'list[Path]', extra: str = '') -> str:
    """Returns a hash of files' names and contents."""
    total = hashlib.sha256(extra.encode())
    for path in sorted(paths):
        total.update(str(path.relative_to(ROOT)).encode() + b'\0' + path.read_bytes() + b'\0')
    return total.hexdigest()


def is_done(stamp: Path, key: str) -> bool:
    """Returns whether a step was done with these inputs."""
    return stamp.is_file() and stamp.read_text() == key


# ---------------------------------------------------------------- packages of the distribution


def missing_system_packages(python: str, tests: bool) -> 'list[str]':
    """Returns packages of the distribution that are not there."""
    missing = []
    if shutil.which('dpkg-query') is None:
        if shutil.which('g++') is None:
            raise SetupError(
                'a C++ compiler (g++) is missing, and this is neither Debian nor Ubuntu: install it by hand'
            )
        return []
    wanted = (*SYSTEM_PACKAGES, *TEST_PACKAGES) if tests else SYSTEM_PACKAGES
    answer = subprocess.run(
        ['dpkg-query', '-W', '-f=${Package} ${db:Status-Status}\n', *wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    there = {line.split()[0] for line in answer.stdout.splitlines() if line.endswith(' installed')}
    missing = [name for name in wanted if name not in there]
    if 'g++' in missing and shutil.which('g++'):
        missing.remove('g++')
    version, has_headers, has_venv = facts_of(python)
    if not has_headers:
        missing.append(f'python{version}-dev')
    if not has_venv:
        missing.append(f'python{version}-venv')
    on_ubuntu = 'ID=ubuntu' in Path('/etc/os-release').read_text().splitlines()
    if tests and not any(shutil.which(name) for name in BROWSERS):
        if on_ubuntu:
            say('no Chromium: the browser tests cannot run. To have them: sudo snap install chromium')
        else:
            missing.append('chromium')
    if tests and not on_ubuntu and not any(shutil.which(name) for name in ('firefox-esr', 'firefox')):
        missing.append('firefox-esr')
    if tests and shutil.which('npm') is None:
        missing.append('npm')
    return missing


def facts_of(python: str) -> 'tuple[str, bool, bool]':
    """Returns a Python's version, and whether it has headers and can make virtual environments with pip in them."""
    code = (
        'import os, sys, sysconfig; from importlib.util import find_spec; '
        'headers = os.path.isfile(os.path.join(sysconfig.get_paths()["include"], "Python.h")); '
        'print("%d.%d" % sys.version_info[:2], int(headers), int(bool(find_spec("ensurepip") and find_spec("venv"))))'
    )
    answer = subprocess.run([python, '-c', code], capture_output=True, text=True, check=True)
    version, headers, venv = answer.stdout.split()
    return version, headers == '1', venv == '1'


def install_line(names: 'list[str]') -> str:
    """Returns the shell line that installs packages of the distribution."""
    # Tests start a coturn of their own: the service that comes with the package must not run on anybody's machine.
    unit = '/etc/systemd/system'
    mask = f'mkdir -p {unit} && ln -sfn /dev/null {unit}/coturn.service && ' if 'coturn' in names else ''
    return f'{mask}apt-get update && apt-get install -y --no-install-recommends {" ".join(names)}'


def rights_to_install(names: 'list[str]') -> 'list[str]':
    """Returns what stands before a command that installs packages.

    Raises:
        SetupError: This user may not install any; the message holds the line to type.
    """
    if os.geteuid() == 0:
        return []
    sudo = shutil.which('sudo')
    if sudo is not None and subprocess.run([sudo, '-n', 'true'], capture_output=True, check=False).returncode == 0:
        return [sudo, '-n']
    typed = f"sudo sh -c '{install_line(names)}'"
    raise SetupError(f'packages of the distribution are missing. Type this, then start again:\n    {typed}')


def install_system_packages(names: 'list[str]', rights: 'list[str]') -> None:
    """Installs packages of the distribution.

    Raises:
        SetupError: It failed.
    """
    line = install_line(names)
    say(f'installing {", ".join(names)} from the distribution ...')
    try:
        run([*rights, 'env', 'DEBIAN_FRONTEND=noninteractive', 'sh', '-c', line], 'apt.log')
    except SetupError as error:
        raise SetupError(f'{error}\nOr install them by hand:\n    {line}') from error


# ---------------------------------------------------------------- Python packages


def venv_environment() -> 'dict[str, str]':
    """Returns the environment of commands of the virtual environment."""
    env = dict(os.environ)
    for name in ('PYTHONHOME', 'PYTHONPATH', 'AMENT_PREFIX_PATH', 'COLCON_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
        env.pop(name, None)
    env['VIRTUAL_ENV'] = str(VENV)
    env['PATH'] = f'{VENV / "bin"}{os.pathsep}{env["PATH"]}'
    return env


def make_venv(python: str) -> None:
    """Makes the virtual environment, unless it is there and its Python runs."""
    if python_of(str(VENV / 'bin' / 'python3')) is None:
        shutil.rmtree(VENV, ignore_errors=True)
        run([python, '-m', 'venv', str(VENV)], 'venv.log')


def pip_install(files: 'tuple[str, ...]', log: str) -> None:
    """Installs pinned packages into the virtual environment."""
    wanted = [part for name in files for part in ('-r', str(ROOT / name))]
    run(
        [
            str(VENV / 'bin' / 'python3'), '-m', 'pip', 'install', '--quiet', '--no-input',
            '--disable-pip-version-check', '-c', str(ROOT / 'tools' / 'constraints.txt'), *wanted,
        ],
        log,
        env=venv_environment(),
    )  # fmt: skip


def npm_install() -> None:
    """Installs what browser tests need of npm, as locked, beside the Python packages; none of their scripts run."""
    folder = VENV / 'npm'
    folder.mkdir(exist_ok=True)
    for file in NPM_FILES:
        shutil.copy(file, folder)
    run(['npm', 'ci', '--prefix', str(folder), '--ignore-scripts', '--no-audit', '--no-fund'], 'npm.log')


# ---------------------------------------------------------------- the workspace


def build_inputs() -> 'list[Path]':
    """Returns the files that the build is made from; Python files are used where they lie."""
    files = [ROOT / 'colcon.meta', ROOT / 'tools' / 'wheels.cmake', ROOT / 'requirements-ros.txt']
    for package in ROOT.glob('**/package.xml'):
        if not {'build', 'install', '.venv', 'log'} & set(package.relative_to(ROOT).parts):
            files += [package, *package.parent.glob('setup.*'), *package.parent.glob('CMakeLists.txt')]
            files += [*package.parent.glob('msg/*.msg'), *package.parent.glob('srv/*.srv')]
    return files


def installed_names() -> str:
    """Returns the names of all files that packages install as they are."""
    command = ['git', 'ls-files', '--cached', '--others', '--exclude-standard', 'cobalt_*']
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    names = listing.stdout.splitlines()
    return '\n'.join(name for name in names if '/test/' not in name and not name.endswith('.py'))


def build_workspace() -> None:
    """Builds all packages with colcon."""
    command = [str(VENV / 'bin' / 'colcon'), 'build', '--symlink-install', '--event-handlers', 'console_direct-']
    run([*command, '--cmake-args', '-G', 'Ninja', '-Wno-dev'], 'colcon.log', env=venv_environment())


def set_up(tests: bool) -> None:
    """Does what is not done yet.

    Raises:
        SetupError: A step failed, or something is missing that may not be installed.
    """
    if os.environ.get('ROS_DISTRO') and any(
        (Path(prefix) / 'share' / 'rclcpp').is_dir() for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(':')
    ):
        raise SetupError(
            f'ROS 2 {os.environ["ROS_DISTRO"]} is sourced in this shell, and this set-up brings its own. '
            'Use rosdep and colcon as README.md says, or start again in a shell without it.'
        )
    if sys.platform != 'linux' or os.uname().machine != 'x86_64':
        raise SetupError(
            f'the ROS 2 wheels of PyPI are for Linux on x86_64, and this is {sys.platform} on {os.uname().machine}'
        )
    requirements = (*ALWAYS, 'requirements-test.txt') if tests else ALWAYS
    pinned = [ROOT / name for name in (*ALWAYS, 'tools/constraints.txt')]
    packages_stamp = VENV / '.cobalt-packages'
    packages_key = digest(pinned, str(VENV))
    tests_key = digest([*pinned, ROOT / 'requirements-test.txt', *NPM_FILES], str(VENV))
    tests_stamp, build_stamp = VENV / '.cobalt-test-packages', ROOT / 'install' / '.cobalt-build'
    build_key = digest(build_inputs(), installed_names() + str(ROOT))
    own_python = str(VENV / 'bin' / 'python3')
    packages_done = is_done(packages_stamp, packages_key) and python_of(own_python) is not None
    tests_done = not tests or is_done(tests_stamp, tests_key)
    build_done = packages_done and is_done(build_stamp, build_key)
    python = own_python if packages_done else pick_python()
    missing = missing_system_packages(python, tests)
    if packages_done and tests_done and build_done and not missing:
        return

    rights = rights_to_install(missing) if missing else []
    started = time.monotonic()
    if not packages_stamp.is_file():
        say('the first time takes some minutes; later starts take none')
    with ThreadPoolExecutor() as pool:
        system = pool.submit(install_system_packages, missing, rights) if missing else None
        if system is not None and not facts_of(python)[2]:
            system.result()
        if not packages_done:
            say(f'virtual environment in .venv with Python {python}; ROS 2 from PyPI ...')
            make_venv(python)
            pip_install(ALWAYS[:1], 'pip-ros.log')
        if system is not None:
            system.result()
        build = None
        if not build_done:
            say('colcon builds the workspace (messages take a minute or two) ...')
            build = pool.submit(build_workspace)
        if not (packages_done and tests_done):
            say('Python packages ...')
            pip_install(requirements[1:], 'pip.log')
            packages_stamp.write_text(packages_key)
            if tests:
                npm_install()
                tests_stamp.write_text(tests_key)
        if build is not None:
            build.result()
            build_stamp.write_text(build_key)
    say(f'done in {time.monotonic() - started:.0f} s')


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--tests', action='store_true', help='also what the tests need')
    options = parser.parse_args()
    try:
        set_up(options.tests)
    except SetupError as error:
        print(f'set-up: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('set-up: stopped; start again to go on', file=sys.stderr)
        return 130
    return 0


if __name__ == '__main__':
    sys.exit(main())
