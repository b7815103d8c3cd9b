"""Launch files, parameter files and the cobalt command."""
