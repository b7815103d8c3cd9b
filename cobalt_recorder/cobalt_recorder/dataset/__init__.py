"""Tools for data sets as a whole: statistics, choice, splits, card, and the one command that removes."""
