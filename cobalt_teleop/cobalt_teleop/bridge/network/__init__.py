"""The way between a page and the bridge: STUN and TURN, UDP ports, and a test that names what stands in the way."""
