"""A double of STS3215 servos on one bus: a pseudo-terminal that speaks Feetech's published protocol.

A packet is FF FF, number, length, instruction or error, parameters, and the inverted sum of all after FF FF.
"""

import os
import pty
import select
import threading
import time
import tty

PING, READ, WRITE, SYNC_READ, SYNC_WRITE = 1, 2, 3, 0x82, 0x83
BROADCAST = 0xFE
STEP_S = 0.002
TICKS_A_SECOND = 3400.0
MODEL = 777


class Servo:
    """The memory of one servo, and its motor."""

    def __init__(self, position):
        self.memory = bytearray(90)
        self.write_word(3, MODEL)
        self.write_word(42, 0)  # a goal of former times
        self.write_word(48, 1000)
        self.place, self.speed = float(position), 0.0
        self.load, self.status, self.answers = 0, 0, True

    def write_word(self, address, value):
        self.memory[address : address + 2] = value.to_bytes(2, 'little')

    def word(self, address):
        return int.from_bytes(self.memory[address : address + 2], 'little')

    @property
    def torque(self):
        return self.memory[40] == 1

    def step(self):
        goal = self.word(42)
        wanted = (goal - self.place) / 0.02 if self.torque and not self.status else 0.0
        self.speed = max(-TICKS_A_SECOND, min(TICKS_A_SECOND, wanted))
        self.place += self.speed * STEP_S
        self.write_word(56, signed(round(self.place), 15))
        self.write_word(58, signed(round(self.speed), 15))
        self.write_word(60, signed(self.load, 10))
        self.memory[65] = self.status


class FeetechDouble:
    """Servos by number, on the slave side of a pseudo-terminal."""

    def __init__(self, positions):
        self.servos = {number: Servo(position) for number, position in positions.items()}
        self.syncs, self.spoilt, self.silent = [], 0, False
        self.master, slave = pty.openpty()
        tty.setraw(self.master)
        tty.setraw(slave)
        self.slave, self.port = slave, os.ttyname(slave)
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=run, daemon=True) for run in (self.listen, self.run)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while not self.ending.wait(STEP_S):
            with self.lock:
                for servo in self.servos.values():
                    servo.step()

    def listen(self):
        data = b''
        while not self.ending.is_set():
            if not select.select([self.master], [], [], 0.05)[0]:
                continue
            data += os.read(self.master, 4096)
            while (packet := packet_in(data)) is not None:
                data = data[data.index(b'\xff\xff') + len(packet) :]
                with self.lock:
                    self.take(packet)

    def take(self, packet):
        number, kind, parameters = packet[2], packet[4], packet[5:-1]
        if kind == SYNC_WRITE:
            address, size = parameters[:2]
            goals = {}
            for at in range(2, len(parameters), size + 1):
                servo, content = parameters[at], parameters[at + 1 : at + 1 + size]
                self.servos[servo].memory[address : address + size] = content
                goals[servo] = int.from_bytes(content, 'little')
            self.syncs.append((time.monotonic(), goals))
        elif kind == SYNC_READ:
            address, size = parameters[:2]
            for servo in parameters[2:]:
                self.answer(servo, bytes(self.servos[servo].memory[address : address + size]))
        elif number in self.servos:
            memory = self.servos[number].memory
            if kind == PING:
                self.answer(number, b'')
            elif kind == READ:
                self.answer(number, bytes(memory[parameters[0] : parameters[0] + parameters[1]]))
            elif kind == WRITE:
                memory[parameters[0] : parameters[0] + len(parameters) - 1] = parameters[1:]
                self.answer(number, b'')

    def answer(self, number, content):
        servo = self.servos[number]
        if self.silent or not servo.answers:
            return
        packet = packet_of(number, bytes([servo.status]) + content)
        if self.spoilt:
            self.spoilt -= 1
            packet = packet[:-1] + bytes([packet[-1] ^ 0x55])
        os.write(self.master, packet)

    def close(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()
        os.close(self.master)
        os.close(self.slave)


def signed(value, bit):
    return -value | 1 << bit if value < 0 else value


def packet_of(number, body):
    content = bytes([number, len(body) + 1]) + body
    return b'\xff\xff' + content + bytes([~sum(content) & 0xFF])


def packet_in(data):
    """Returns the first whole packet with a right checksum, None if there is none yet."""
    start = data.find(b'\xff\xff')
    if start < 0 or len(data) < start + 4 or len(data) < start + 4 + data[start + 3]:
        return None
    packet = data[start : start + 4 + data[start + 3]]
    assert packet[-1] == ~sum(packet[2:-1]) & 0xFF, 'the library has reckoned a wrong checksum'
    return packet
