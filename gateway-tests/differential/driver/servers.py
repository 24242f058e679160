"""The servers behind the gateway. Each tells in its answer what it has read of the request."""

import asyncio
import base64
import dataclasses
import hashlib
import json
import os

from . import rig, taps

SERVERS = os.path.join(rig.PROGRAMS, "servers")


@dataclasses.dataclass
class Report:
    """What a server has read."""

    method: bytes
    target: bytes
    paths: list  # as it is handed to applications, in one or more forms
    hosts: list
    length: int  # of the body
    hash: str


class Server:
    name = ""

    def __init__(self, machine, java):
        self.machine, self.java = machine, java
        [self.port] = rig.free_ports(1)

    async def start(self):
        """Starts it; raises Lacking if it cannot be had."""
        self.machine.serve(self.command(), self.name, [self.port])

    def command(self):
        raise NotImplementedError

    async def report(self, answer):
        """What it says that it has read; None if it has refused the request."""
        for value in answer.values(b"x-seen"):
            told = json.loads(base64.b64decode(value))
            return Report(bytes.fromhex(told["method"]), bytes.fromhex(told["target"]), [bytes.fromhex(each) for each in told["paths"]],
                          [bytes.fromhex(each) for each in told["hosts"]], told["length"], told["hash"])
        return None


class Node(Server):
    name = "node"

    def command(self):
        return [rig.program("node", "nodejs"), os.path.join(SERVERS, "server.cjs"), str(self.port)]


class Go(Server):
    name = "go"

    def command(self):
        return [rig.built_by_go(self.machine, os.path.join(SERVERS, "server.go")), str(self.port)]


class Jetty(Server):
    name = "jetty"

    def command(self):
        strict, lenient = (self.port, *rig.free_ports(1))
        return [self.java, "-cp", f"{rig.jars()}/*", os.path.join(SERVERS, "Serve.java"), *map(str, self.ports(strict, lenient))]

    @staticmethod
    def ports(used, unused):
        return used, unused


class LenientJetty(Jetty):
    """As it was before version 10: it reads ambiguous paths."""

    name = "lenient-jetty"

    @staticmethod
    def ports(used, unused):
        return unused, used


class Nginx(Server):
    """It has no way to answer with what it has read, so it logs that, under an ID that its answer has."""

    name = "nginx"

    def __init__(self, machine, java):
        super().__init__(machine, java)
        self.lines = {}
        self.log = taps.Lines(self.take)

    def command(self):
        seen = json.dumps({
            "id": "$request_id", "method": "$request_method", "target": "$request_uri", "path": "$uri", "host": "$host", "written": "$http_host",
            "body": "$request_body"})
        pipe = self.machine.path("nginx.pipe")
        os.mkfifo(pipe)
        self.log.open(pipe)
        # It reads the body to hand it on. Who gets it is another server of the same nginx, which answers with the ID.
        inner = f"unix:{self.machine.path('nginx.inner')}"
        config = self.machine.write("nginx.conf", f"""
user root; daemon off; pid {self.machine.path('nginx.pid')}; error_log /dev/null; worker_processes 1;
events {{ worker_connections 1024; }}
http {{
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  client_body_buffer_size 1m; keepalive_requests 1000000; keepalive_timeout 600s; client_header_timeout 600s; client_body_timeout 600s;
  log_format seen escape=json '{seen}';
  access_log off;
  server {{
    listen 127.0.0.1:{self.port};
    access_log {pipe} seen;
    location / {{ proxy_pass http://{inner}; proxy_set_header X-Id $request_id; add_header X-Id $request_id always; }}
  }}
  server {{ listen {inner}; return 200 $http_x_id; }}
}}
""")
        return [rig.program("nginx", "nginx"), "-p", self.machine.directory, "-c", config]

    async def start(self):
        await super().start()
        await self.log.read()

    def take(self, line):
        told = {key: value.encode("latin-1") for key, value in json.loads(line.decode("latin-1")).items()}
        body = told["body"]
        self.lines[told["id"].decode()] = Report(told["method"], told["target"], [told["path"]], [told["host"], told["written"]], len(body),
                                                 hashlib.sha256(body).hexdigest())

    async def report(self, answer):
        if answer.status != 200:
            return None
        [key] = answer.values(b"x-id")
        async with asyncio.timeout(taps.TIMEOUT):
            await self.log.until(lambda: key.decode() in self.lines)
        return self.lines.pop(key.decode())


ALL = {kind.name: kind for kind in (Nginx, Node, Go, Jetty, LenientJetty)}
