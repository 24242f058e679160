"""A tap lies between two ends of TCP and records what passes. It hands on bytes, ends of directions, and resets."""

import asyncio
import os
import socket
import struct

TIMEOUT = 10  # seconds for what takes milliseconds


class Hang(Exception):
    """What was waited for has not come."""


class End(asyncio.Protocol):
    """One of the two ends of a connection."""

    def __init__(self, passed, name):
        self.passed = passed
        self.name = name
        self.transport = None
        self.waiting = bytearray()  # before the other end is there
        self.other = None

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data):
        self.passed.record(self.name, data)
        if self.other and self.other.transport:
            self.other.transport.write(data)
        else:
            self.waiting += data

    def eof_received(self):
        self.passed.end(self.name)
        other = self.other
        if other and other.transport and other.transport.can_write_eof() and not other.transport.is_closing():
            other.transport.write_eof()
        return True  # the other direction goes on

    def connection_lost(self, error):
        self.passed.end(self.name, error is not None)
        other = self.other
        if other and other.transport and not other.transport.is_closing():
            if error is not None:
                abort(other.transport)
            else:
                other.transport.close()


def abort(transport):
    """Ends a connection by a reset."""
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class Passed:
    """What has passed a connection in both directions: up from the side that opened it, and down."""

    def __init__(self, changed):
        self.up, self.down = bytearray(), bytearray()
        self.ended = {"up": False, "down": False}
        self.was_reset = False
        self.changed = changed
        self.ends = ()
        self.read_up = self.read_down = 0  # how much belongs to what is over

    def record(self, name, data):
        getattr(self, name).extend(data)
        self.changed()

    def end(self, name, by_reset=False):
        self.ended[name] = True
        self.was_reset |= by_reset
        self.changed()

    def abort(self):
        for end in self.ends:
            if end.transport and not end.transport.is_closing():
                abort(end.transport)


class Tap:
    """Listens on a port, and connects each connection with another port."""

    def __init__(self, port, to):
        self.port, self.to = port, to
        self.connections = []
        self.event = asyncio.Event()
        self.server = None

    async def start(self):
        self.server = await asyncio.get_running_loop().create_server(self.accept, "127.0.0.1", self.port, backlog=64)

    def accept(self):
        passed = Passed(self.event.set)
        self.connections.append(passed)
        near, far = End(passed, "up"), End(passed, "down")
        near.other, far.other = far, near
        passed.ends = (near, far)
        asyncio.get_running_loop().create_task(self.connect(near, far))
        return near

    async def connect(self, near, far):
        await asyncio.get_running_loop().create_connection(lambda: far, "127.0.0.1", self.to)
        if near.waiting:
            far.transport.write(bytes(near.waiting))
        if near.transport.is_closing():
            far.transport.close()
        elif near.passed.ended["up"]:
            far.transport.write_eof()

    async def until(self, done):
        """Waits until something is so; raises Hang if it takes too long."""
        deadline = asyncio.get_running_loop().time() + TIMEOUT
        while not done():
            self.event.clear()
            left = deadline - asyncio.get_running_loop().time()
            try:
                await asyncio.wait_for(self.event.wait(), max(0.001, left))
            except asyncio.TimeoutError:
                if not done():
                    raise Hang from None

    def forget(self):
        """Drops connections that are over."""
        self.connections = [each for each in self.connections if not (each.ended["up"] and each.ended["down"])]

    def reset(self):
        for each in self.connections:
            each.abort()
        self.connections = []


class Lines(asyncio.Protocol):
    """Lines that another process writes into a named pipe."""

    def __init__(self, take):
        self.take = take
        self.rest = b""
        self.file = None
        self.event = asyncio.Event()

    def open(self, path):
        # Open for writing as well, so that it does not end with the other process.
        self.file = open(os.open(path, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)

    async def read(self):
        await asyncio.get_running_loop().connect_read_pipe(lambda: self, self.file)

    def data_received(self, data):
        *whole, self.rest = (self.rest + data).split(b"\n")
        for line in whole:
            self.take(line)
        self.event.set()

    async def until(self, done):
        while not done():
            self.event.clear()
            await self.event.wait()
