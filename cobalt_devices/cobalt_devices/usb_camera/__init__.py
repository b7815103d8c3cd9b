"""Cameras on USB, for labs without another driver."""
