"""What tests of drivers share: waiting, and streaming set points as the host does."""

import time

import numpy as np


def until(condition, timeout_s=5.0):
    """Waits until a condition holds."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, 'it did not happen'
        time.sleep(0.005)


def moved(driver, by=0.1, seconds=0.4):
    """Streams set points to a place that is `by` away, one number [rad] or one for each joint; returns the last one."""
    rate_hz = driver.capabilities.rate_hz
    start, steps = driver.read().joints, round(seconds * rate_hz)
    for step in range(1, steps + 1):
        target = start + np.multiply(by, step / steps)
        driver.command(target, np.zeros_like(start))
        driver.read()
        time.sleep(1.0 / rate_hz)
    return target
