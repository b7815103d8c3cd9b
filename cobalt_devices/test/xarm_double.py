"""A double of UFACTORY's control box: its private protocol over TCP 502, as its SDK documents it by its source.

A request is transaction, protocol, length (each 2 bytes), function, and data; the answer has a byte of state after the
function: 0x40 error, 0x20 warning, 0x10 not ready.
"""

import contextlib
import socket
import struct
import threading
import time

import numpy as np

VERSION = b'7,7,XI1304D43L19,AC1304D43L19,v2.5.0'
(
    GET_VERSION,
    MOTION_EN,
    SET_STATE,
    GET_STATE,
    GET_CMDNUM,
    GET_ERROR,
    CLEAN_ERR,
    CLEAN_WAR,
    SET_MODE,
    MOVE_SERVOJ,
    GET_JOINTS,
) = (1, 11, 12, 13, 14, 15, 16, 17, 19, 29, 42)
READY, STOPPED, SERVO_MODE = 0, 4, 1
STEP_S = 0.002
FOLLOWING_S = 0.02
MAX_SPEED = 3.14


class XArmDouble:
    """A control box at an address of its own, with an arm that follows set points in servo mode."""

    def __init__(self, address, joints):
        self.address = address
        self.joints, self.velocities = np.array(joints, dtype=float), np.zeros(7)
        self.efforts = np.arange(7.0)
        self.enabled, self.mode, self.state, self.error = False, 0, STOPPED, 0
        self.target = self.joints.copy()
        self.set_points, self.asked, self.silent = [], [], False
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.connections = []
        self.listen()
        self.stepper = threading.Thread(target=self.run, daemon=True)
        self.stepper.start()

    @property
    def ready(self):
        return self.enabled and self.state != STOPPED and not self.error

    def run(self):
        while not self.ending.wait(STEP_S):
            with self.lock:
                follows = self.ready and self.mode == SERVO_MODE
                wanted = (self.target - self.joints) / FOLLOWING_S if follows else np.zeros(7)
                self.velocities = np.clip(wanted, -MAX_SPEED, MAX_SPEED)
                self.joints = self.joints + self.velocities * STEP_S

    def fail(self, error):
        """What a collision does."""
        with self.lock:
            self.error, self.state = error, STOPPED

    def listen(self):
        self.server = socket.create_server((self.address, 502))

        def accept(server):
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections.append(connection)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, args=(self.server,), daemon=True).start()

    def serve(self, connection):
        data = b''
        with contextlib.suppress(OSError), connection:
            while part := connection.recv(4096):
                data += part
                while len(data) >= 6 and len(data) >= 6 + (length := struct.unpack('>H', data[4:6])[0]):
                    request, data = data[: 6 + length], data[6 + length :]
                    with self.lock:
                        body = self.answer(request[6], request[7:])
                        state = (0x40 if self.error else 0) | (0 if self.ready else 0x10)
                    if not self.silent:
                        head = request[:4] + struct.pack('>HBB', 2 + len(body), request[6], state)
                        connection.sendall(head + body)

    def answer(self, function, data):
        if function == MOVE_SERVOJ:
            values = struct.unpack('<10f', data)
            self.set_points.append((time.monotonic(), values[:7]))
            if self.ready and self.mode == SERVO_MODE:
                self.target = np.array(values[:7])
            return b''
        if function == GET_JOINTS:
            return struct.pack('<21f', *self.joints, *self.velocities, *self.efforts)
        if function in (GET_STATE, GET_ERROR, GET_CMDNUM, GET_VERSION):
            return {
                GET_STATE: bytes([self.state]),
                GET_ERROR: bytes([self.error, 0]),
                GET_CMDNUM: b'\0\0',
                GET_VERSION: VERSION.ljust(40, b'\0'),
            }[function]
        self.asked.append((function, tuple(data)))
        if function == MOTION_EN:
            self.enabled = bool(data[1])
        elif function == SET_MODE:
            self.mode, self.state, self.target = data[0], STOPPED, self.joints.copy()
        elif function == SET_STATE:
            self.state, self.target = (STOPPED if self.error else data[0]), self.joints.copy()
        elif function == CLEAN_ERR:
            self.error = 0
        return b''

    def cut(self):
        """Ends all connections and listens no longer, as a control box that is switched off."""
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.connections = []

    def close(self):
        self.ending.set()
        self.stepper.join()
        self.cut()
