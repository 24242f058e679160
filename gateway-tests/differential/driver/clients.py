"""The clients before the gateway, and one that reads canonical responses only."""

import asyncio
import dataclasses
import json
import os
import ssl

from . import canonical, rig, taps

CLIENTS = os.path.join(rig.PROGRAMS, "clients")


@dataclasses.dataclass
class Result:
    """What a client gets."""

    status: int
    body: bytes
    trailers: list
    error: str = ""  # empty if the response is whole for the client

    def __str__(self):
        return f"{self.status} {self.body[:100]!r}" + (f" {self.trailers}" if self.trailers else "") + (f" error: {self.error}" if self.error else "")


class Client:
    """A program that fetches what lines on its input ask for, for many lanes at a time."""

    name = ""
    trailers = True  # whether it tells them
    http2 = False  # which it speaks over TLS

    def __init__(self, machine, java):
        self.machine, self.java = machine, java
        self.process = None
        self.waiting = {}

    def command(self):
        raise NotImplementedError

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            *self.command(), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 22, start_new_session=True)
        asyncio.get_running_loop().create_task(self.listen())

    async def listen(self):
        while line := await self.process.stdout.readline():
            lane, told = line.split(b" ", 1)
            result = json.loads(told)
            waiting = self.waiting.pop(lane.decode())
            if not waiting.done():
                waiting.set_result(Result(result["status"], bytes.fromhex(result["body"]),
                    [tuple(each) for each in result["trailers"]], result["error"]))
        for waiting in self.waiting.values():
            if not waiting.done():
                waiting.set_exception(rig.Broken(f"{self.name} is gone"))

    async def fetch(self, lane, asked):
        """Fetches one after the other; returns the results. The connection of a lane stays."""
        results = []
        for method, url in asked:
            waiting = self.waiting[lane] = asyncio.get_running_loop().create_future()
            self.process.stdin.write(f"{lane} {method} {url}\n".encode())
            results.append(await asyncio.wait_for(waiting, taps.TIMEOUT))
        return results

    async def stop(self):
        """It ends with its input."""
        self.process.stdin.close()
        await self.process.wait()


class Node(Client):
    name = "node-client"

    def command(self):
        return [rig.program("node", "nodejs"), os.path.join(CLIENTS, "client.cjs"), "http2" if self.http2 else "http1"]


class Node2(Node):
    name = "node-client-http2"
    http2 = True


class Go(Client):
    name = "go-client"

    def command(self):
        return [rig.built_by_go(self.machine, os.path.join(CLIENTS, "client.go"))]


class Java(Client):
    name = "java-client"
    trailers = False

    def command(self):
        return [self.java, os.path.join(CLIENTS, "Fetch.java")]


class Curl(Client):
    name = "curl"

    async def start(self):
        rig.program("curl", "curl")

    async def stop(self):
        """Nothing runs between the cases."""

    async def fetch(self, lane, asked):
        """One process for as many as it fetches, so that it keeps its connection: some errors end it."""
        results = []
        while len(results) < len(asked):
            fetched = await self.run(lane, asked[len(results):])
            if not fetched:
                raise rig.Broken(f"{self.name} tells nothing")
            results += fetched
        return results

    async def run(self, lane, asked):
        files = [self.machine.path(f"curl-{lane}-{i}") for i in range(len(asked))]
        options = []
        for (method, url), file in zip(asked, files):
            options += [f'url = "{url}"', f'output = "{file}.body"', f'dump-header = "{file}.head"', "silent", "http2" if self.http2 else "http1.1",
                        "insecure", f"max-time = {taps.TIMEOUT}", 'write-out = "%{exitcode} %{http_code} %{errormsg}\\n"',
                        *(["head"] if method == "HEAD" else []), "next"]
            for each in (f"{file}.body", f"{file}.head"):
                with open(each, "wb"):
                    pass  # a response without a body would leave that of another
        process = await asyncio.create_subprocess_exec(
            rig.program("curl", "curl"), "--disable", "--config", "-", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        told, _ = await process.communicate("\n".join(options[:-1]).encode())
        results = []
        for line, (method, _), file in zip(told.decode("latin-1").splitlines(), asked, files):
            code, status, message = line.split(" ", 2)
            with open(f"{file}.body", "rb") as body, open(f"{file}.head", "rb") as head:
                results.append(Result(int(status), b"" if method == "HEAD" else body.read(), trailers_of(head.read()),
                                      "" if code == "0" else f"{code} {message}"))
        return results


def trailers_of(heads):
    """The fields behind the last head."""
    _, blank, last = heads.rpartition(b"\r\n\r\n") if not heads.endswith(b"\r\n\r\n") else (b"", b"", b"")
    if not blank:
        return []
    pairs = (line.partition(b":") for line in last.split(b"\r\n") if line)
    return [(name.lower().decode("latin-1"), value.strip().decode("latin-1")) for name, _, value in pairs]


class Curl2(Curl):
    name = "curl-http2"
    http2 = True


def trusting():
    """TLS without a check of the certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Canonical:
    """Reads what the gateway answers with, and refuses what is not canonical."""

    async def fetch(self, lane, asked):
        """Fetches one after the other on a connection as long as that persists.

        Returns messages, None for no answer, and a Deviation for what is not canonical.
        """
        found = []
        reader = writer = None
        try:
            for method, path in asked:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", lane.port, ssl=trusting() if lane.tls else None)
                writer.write(f"{method} {path} HTTP/1.1\r\nHost: a.test\r\n\r\n".encode())
                try:
                    message, persists = await asyncio.wait_for(self.response(reader, method.encode()), taps.TIMEOUT)
                except canonical.Deviation as e:
                    message, persists = e, False
                found.append(message)
                if not persists:
                    writer.close()
                    writer = None
        finally:
            if writer is not None:
                writer.close()
        return found

    @staticmethod
    async def response(reader, method):
        """Returns a response, or None if there is none, and whether the connection stays for another."""
        data, ended = b"", False
        while True:
            found = canonical.responses(data, [method], ended)
            message = found[0] if found else None
            if message and (message.whole or ended):
                stays = message.whole and not ended and b"close" not in message.values(b"connection") and message.framing != "close"
                return message, stays
            if ended:
                return message, False
            try:
                piece = await reader.read(65536)
            except (ConnectionError, ssl.SSLError):
                return message, False
            ended = not piece
            data += piece


ALL = {kind.name: kind for kind in (Curl, Node, Go, Java, Curl2, Node2)}
