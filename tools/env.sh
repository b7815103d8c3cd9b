# Source this in bash: the virtual environment, the built workspace, and the `cobalt` command.
_cobalt_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ ! -f "$_cobalt_root/.venv/bin/activate" ] || [ ! -f "$_cobalt_root/install/setup.bash" ]; then
  echo "Cobalt is not set up yet: type 'make setup' in $_cobalt_root" >&2
  unset _cobalt_root
  return 1
fi
. "$_cobalt_root/.venv/bin/activate"
# The wheels of ROS 2 do not announce their prefix; it comes last, below the workspace.
export AMENT_PREFIX_PATH=
. "$_cobalt_root/install/setup.bash"
export AMENT_PREFIX_PATH="$AMENT_PREFIX_PATH:$VIRTUAL_ENV"
export COBALT_ENV="$_cobalt_root/tools/env.sh" # what is printed to be typed in another shell begins with it
export PATH="$_cobalt_root/install/cobalt_bringup/lib/cobalt_bringup:$PATH"
# No ROS 2 socket is open beyond this machine, unless a profile of several machines is in use: docs/several_machines.md
export FASTDDS_DEFAULT_PROFILES_FILE="${FASTDDS_DEFAULT_PROFILES_FILE:-$_cobalt_root/cobalt_bringup/config/fastdds_local.xml}"
unset _cobalt_root
