"""Operators and spectators: where they are, what they hold and what they ask for."""
