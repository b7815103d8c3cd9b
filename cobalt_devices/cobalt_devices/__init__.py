"""Operator device nodes of Cobalt, each over a pure mapper."""
