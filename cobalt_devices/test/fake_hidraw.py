"""A double of hidapi's module `hidraw`, with mice that tests plug in, move, and pull out."""

import queue
import struct
import threading
import time

_FULL = 350


class Mouse:
    """A SpaceMouse that is plugged in. While its cap is pushed it reports again and again, as real ones do."""

    def __init__(self, vendor_id=0x256F, product_id=0xC635, *, split=True, period_s=0.008, usage=(1, 8)):
        self.vendor_id, self.product_id, self.usage = vendor_id, product_id, usage
        self.split, self.period_s = split, period_s
        self.allowed, self.reaches, self.opened = True, True, 0
        self.reports = queue.Queue()
        self.axes = (0,) * 6
        self.pulled = threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def push(self, *shares):
        self.axes = tuple(round(share * _FULL) for share in shares)

    def release(self):
        self.axes = (0,) * 6
        for _ in range(3):
            self.report()

    def press(self, buttons):
        self.reports.put(bytes([3, buttons, 0]))

    def report(self):
        if not self.split:
            self.reports.put(struct.pack('<B6h', 1, *self.axes))
            return
        self.reports.put(struct.pack('<B3h', 1, *self.axes[:3]))
        self.reports.put(struct.pack('<B3h', 2, *self.axes[3:]))

    def _work(self):
        while not self.pulled.wait(self.period_s):
            if any(self.axes) and self.reaches and self.opened:
                self.report()


class _Device:
    def __init__(self, module):
        self._module = module
        self._mouse = None

    def open_path(self, path):
        mouse = self._module.mice.get(path)
        if mouse is None or not mouse.allowed:
            raise OSError('open failed')
        self._mouse = mouse
        mouse.opened += 1

    def set_nonblocking(self, on):
        assert on == 1

    def read(self, size, timeout_ms=0):
        if self._mouse is None:
            raise ValueError('not open')
        end_s = time.monotonic() + timeout_ms / 1e3
        while True:
            if self._mouse.pulled.is_set():
                raise OSError('read error')
            left_s = end_s - time.monotonic()
            try:
                if left_s > 0.0:
                    return list(self._mouse.reports.get(timeout=min(0.005, left_s))[:size])
                return list(self._mouse.reports.get_nowait()[:size])
            except queue.Empty:
                if left_s <= 0.0:
                    return []

    def close(self):
        if self._mouse is not None:
            self._mouse.opened -= 1
        self._mouse = None


class FakeHidraw:
    """The module. `mice` are those that are plugged in, by the path of their device file."""

    def __init__(self):
        self.mice = {}

    def plug_in(self, mouse, path=b'/dev/hidraw7'):
        self.mice[path] = mouse
        return mouse

    def pull_out(self, path=b'/dev/hidraw7'):
        self.mice.pop(path).pulled.set()

    def enumerate(self, vendor_id=0, product_id=0):
        return [
            {
                'path': path, 'vendor_id': mouse.vendor_id, 'product_id': mouse.product_id,
                'usage_page': mouse.usage[0], 'usage': mouse.usage[1],
            }
            for path, mouse in self.mice.items()
        ]  # fmt: skip

    def device(self):
        return _Device(self)
