"""Quality metrics of an episode: pure functions over arrays, the same live and from the closed file."""
