"""Where packages and their executables are, from the ament index."""

import os
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix, get_package_share_directory

from cobalt_bringup.launch_file import Packages
from cobalt_bringup.launch_substitution import SubstitutionError

_SOURCE_IT = 'Is the workspace built, and sourced in this shell?'


def _share(package: str) -> str:
    try:
        return str(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError) as error:
        raise SubstitutionError(f"there is no package '{package}'. {_SOURCE_IT}") from error


def _executable(package: str, name: str) -> str:
    try:
        folder = Path(get_package_prefix(package)) / 'lib' / package
    except (PackageNotFoundError, ValueError) as error:
        raise SubstitutionError(f"there is no package '{package}'. {_SOURCE_IT}") from error
    path = folder / name
    if path.is_file() and os.access(path, os.X_OK):
        return str(path)
    there = sorted(entry.name for entry in folder.iterdir() if os.access(entry, os.X_OK)) if folder.is_dir() else []
    raise SubstitutionError(f"package '{package}' has no executable '{name}'; it has {', '.join(there) or 'none'}")


INSTALLED = Packages(find_share=_share, find_executable=_executable)
