"""Drivers that come with Cobalt; others are found by the entry point group `cobalt_devices.drivers`."""
