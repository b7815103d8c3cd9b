"""The host of a real arm: drivers, and what stands between them and the guard."""
