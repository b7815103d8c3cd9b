"""A double of a UR e-Series controller: RTDE (30004), script port (30003) and dashboard (29999), as UR publishes them.

Robotiq's URCap listens, too (63352).

The control script that a client uploads isn't interpreted: the double does what that of ur_rtde 1.6.5 does with the
registers of RTDE, for the few commands that stream and stop joints.
"""

import contextlib
import math
import socket
import struct
import threading
import time

import numpy as np

SIZES = {'DOUBLE': 'd', 'VECTOR6D': '6d', 'INT32': 'i', 'UINT32': 'I', 'UINT64': 'Q', 'UINT8': 'B'}
OUTPUTS = {
    'timestamp': 'DOUBLE',
    'actual_q': 'VECTOR6D',
    'actual_qd': 'VECTOR6D',
    'robot_mode': 'INT32',
    'safety_mode': 'INT32',
    'runtime_state': 'UINT32',
    'robot_status_bits': 'UINT32',
    'safety_status_bits': 'UINT32',
    **{f'output_int_register_{n}': 'INT32' for n in range(24)},
    **{f'output_double_register_{n}': 'DOUBLE' for n in range(24)},
}
STOPPED, PLAYING = 1, 2
NORMAL, PROTECTIVE_STOP = 1, 3
RUNNING = 7
NO_COMMAND, SERVOJ, SERVO_STOP, STOP_SCRIPT = 0, 11, 16, 255
READY, DONE = 1, 2

STEP_S = 0.002
FOLLOWING_S = 0.02
MAX_SPEED = math.pi


class UrDouble:
    """A controller at an address of its own, with an arm that follows `servoj` with a lag and a limited speed."""

    def __init__(self, address, joints):
        self.address = address
        self.joints = np.array(joints, dtype=float)
        self.velocities = np.zeros(6)
        self.robot_mode, self.safety_mode, self.remote = RUNNING, NORMAL, True
        self.runtime = STOPPED
        self.silent = False
        self.scripts, self.asked, self.set_points = [], [], []
        self.lock = threading.Lock()
        self.ints, self.doubles, self.out_ints = [0] * 48, [0.0] * 48, [0] * 24
        self.target, self.servoing = None, False
        self.connections, self.sources = [], []
        self.fingers, self.fingers_target, self.fingers_active = 0.0, 0, True
        self.ending = threading.Event()
        self.listen_all()
        self.stepper = threading.Thread(target=self.run, daemon=True)
        self.stepper.start()

    def listen_all(self):
        roles = (
            (30004, self.serve_rtde),
            (30003, self.serve_scripts),
            (29999, self.serve_dashboard),
            (63352, self.serve_gripper),
        )
        self.servers = [self.listen(port, serve) for port, serve in roles]

    def listen(self, port, serve):
        server = socket.create_server((self.address, port))

        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections.append(connection)
                threading.Thread(target=self.guarded, args=(serve, connection), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return server

    def guarded(self, serve, connection):
        try:
            serve(connection)
        except (OSError, EOFError):
            pass
        finally:
            connection.close()

    # The arm.

    def run(self):
        due = time.monotonic()
        while not self.ending.is_set():
            with self.lock:
                self.step()
            due = max(due + STEP_S, time.monotonic() - 0.05)
            time.sleep(max(0.0, due - time.monotonic()))

    def step(self):
        command = self.ints[0] if self.runtime == PLAYING else NO_COMMAND
        if command == SERVOJ:
            self.target, self.servoing = np.array(self.doubles[:6]), True
        elif command == SERVO_STOP and self.out_ints[0] == READY:
            self.servoing, self.out_ints[0] = False, DONE
        elif command == STOP_SCRIPT:
            self.end_program()
        elif command == NO_COMMAND and self.out_ints[0] == DONE:
            self.out_ints[0] = READY
        moves = self.servoing and self.runtime == PLAYING and self.safety_mode == NORMAL
        wanted = (self.target - self.joints) / FOLLOWING_S if moves else np.zeros(6)
        self.velocities = np.clip(wanted, -MAX_SPEED, MAX_SPEED)
        self.joints = self.joints + self.velocities * STEP_S
        self.fingers += max(-2.0, min(2.0, self.fingers_target - self.fingers))
        if not self.silent:
            for source in list(self.sources):
                source()

    def end_program(self):
        self.runtime, self.servoing, self.out_ints[0] = STOPPED, False, 0

    def protective_stop(self):
        """What a collision does: brakes, and the program ends."""
        with self.lock:
            self.safety_mode = PROTECTIVE_STOP
            self.end_program()

    # RTDE.

    def value(self, name):
        if name.startswith('output_int'):
            return (self.out_ints[int(name.rsplit('_', 1)[1])],)
        if name.startswith('output_double'):
            return (0.0,)
        protective = self.safety_mode == PROTECTIVE_STOP
        return {
            'timestamp': (time.monotonic(),),
            'actual_q': self.joints,
            'actual_qd': self.velocities,
            'robot_mode': (self.robot_mode,),
            'safety_mode': (self.safety_mode,),
            'runtime_state': (self.runtime,),
            'robot_status_bits': (1 | (2 if self.runtime == PLAYING else 0),),
            'safety_status_bits': ((1 << 2 | 1 << 10) if protective else 1,),
        }[name]

    def serve_rtde(self, connection):
        inputs, outputs, every, count, source = {}, [], 1, 0, None

        def tell():
            nonlocal count
            count += 1
            if count % every:
                return
            body = b'\x01' + b''.join(struct.pack('>' + SIZES[OUTPUTS[name]], *self.value(name)) for name in outputs)
            try:
                connection.sendall(packet(b'U', body))
            except OSError:
                self.sources.remove(tell)

        while True:
            kind, body = read_packet(connection)
            if kind == b'V':
                connection.sendall(packet(b'V', b'\x01'))
            elif kind == b'v':
                connection.sendall(packet(b'v', struct.pack('>4I', 5, 14, 0, 1031110)))
            elif kind == b'O':
                every = max(1, round(500 / struct.unpack('>d', body[:8])[0]))
                outputs = names_of(body[8:])
                types = [OUTPUTS.get(name, 'NOT_FOUND') for name in outputs]
                connection.sendall(packet(b'O', b'\x01' + ','.join(types).encode()))
            elif kind == b'I':
                recipe = len(inputs) + 1
                inputs[recipe] = names_of(body)
                types = [
                    'VECTOR6D' if 'external' in n else 'INT32' if '_int_' in n else 'DOUBLE' for n in inputs[recipe]
                ]
                connection.sendall(packet(b'I', bytes([recipe]) + ','.join(types).encode()))
            elif kind == b'S':
                connection.sendall(packet(b'S', b'\x01'))
                source = tell
                self.sources.append(source)
            elif kind == b'P':
                if source in self.sources:
                    self.sources.remove(source)
                connection.sendall(packet(b'P', b'\x01'))
            elif kind == b'U':
                self.take(inputs[body[0]], body[1:])

    def take(self, names, body):
        """Takes registers; those of a package change together."""
        with self.lock:
            at = 0
            for name in names:
                form = '>i' if '_int_' in name else '>d'
                (value,) = struct.unpack_from(form, body, at)
                at += struct.calcsize(form)
                (self.ints if '_int_' in name else self.doubles)[int(name.rsplit('_', 1)[1])] = value
            if self.ints[0] == SERVOJ and self.runtime == PLAYING:
                self.set_points.append((time.monotonic(), list(self.doubles[:6]), list(self.doubles[8:11])))

    # Scripts and dashboard.

    def serve_scripts(self, connection):
        text = b''
        while True:
            text += received(connection)
            if text.startswith(b'def rtde_control():') and text.rstrip().endswith(b'\nend'):
                with self.lock:
                    self.scripts.append(text.decode())
                    if self.safety_mode == NORMAL and self.robot_mode == RUNNING:
                        self.ints[0], self.runtime, self.servoing, self.out_ints[0] = 0, PLAYING, False, READY
                text = b''

    def serve_dashboard(self, connection):
        connection.sendall(b'Connected: Universal Robots Dashboard Server\n')
        text = b''
        while True:
            text += received(connection)
            while b'\n' in text:
                line, text = text.split(b'\n', 1)
                connection.sendall(self.answer(line.decode().strip()).encode() + b'\n')

    def answer(self, question):
        self.asked.append(question)
        if question == 'stop':
            with self.lock:
                self.end_program()
            return 'Stopped'
        if question == 'unlock protective stop':
            with self.lock:
                self.safety_mode = NORMAL
            return 'Protective stop releasing'
        return {
            'PolyscopeVersion': 'URSoftware 5.14.0.1031110 (Aug 04 2023)',
            'get serial number': '20235500001',
            'is in remote control': str(self.remote).lower(),
            'close safety popup': 'closing safety popup',
        }.get(question, f"could not understand: '{question}'")

    # The gripper.

    def serve_gripper(self, connection):
        text = b''
        while True:
            text += received(connection)
            while b'\n' in text:
                line, text = text.split(b'\n', 1)
                kind, *words = line.decode().split()
                if kind == 'SET':
                    values = dict(zip(words[::2], map(int, words[1::2]), strict=True))
                    if values.get('GTO') and self.fingers_active:
                        self.fingers_target = values['POS']
                    connection.sendall(b'ack')
                else:
                    value = {'STA': 3 if self.fingers_active else 0, 'POS': round(self.fingers)}[words[0]]
                    connection.sendall(f'{words[0]} {value}\n'.encode())

    # What a network does.

    def cut(self):
        """Ends all connections and listens no longer, as a controller that is switched off."""
        for server in self.servers:
            server.shutdown(socket.SHUT_RDWR)
            server.close()
        with self.lock:
            self.sources.clear()
            self.end_program()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.servers, self.connections = [], []

    def close(self):
        self.ending.set()
        self.stepper.join()
        self.cut()


def packet(kind, body):
    return struct.pack('>H', 3 + len(body)) + kind + body


def names_of(body):
    return [name for name in body.decode().split(',') if name]


def received(connection):
    data = connection.recv(65536)
    if not data:
        raise EOFError
    return data


def read_packet(connection):
    head = read_exactly(connection, 3)
    return head[2:], read_exactly(connection, struct.unpack('>H', head[:2])[0] - 3)


def read_exactly(connection, size):
    data = b''
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data
