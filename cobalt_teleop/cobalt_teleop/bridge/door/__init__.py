"""Who may come in, and from where."""
