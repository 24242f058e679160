"""What a run starts: the gateway, servers and clients, all of which end with it."""

import contextlib
import functools
import os
import shutil
import signal
import socket
import subprocess
import time

from harness import machine as machines

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.dirname(HERE)
BUILT = os.path.join(machines.ROOT, "gateway-core", "target", "gateway.jar")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gateway", "differential")
START = 180  # seconds that a process may take to listen
free_ports = machines.free_ports


class Lacking(Exception):
    """A server or a client that cannot be had here."""


class Broken(Exception):
    """A run that says nothing about messages."""


class Machine(machines.Machine):
    """All cores, and all that runs on them."""

    def __init__(self):
        cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0)))
        super().__init__(cores, cores)

    def __enter__(self):
        super().__enter__()
        signal.signal(signal.SIGTERM, self.end)
        return self

    def end(self, *_):
        """Ends all at once: to cancel what runs in the event loop and its threads could take minutes."""
        self.__exit__()
        os._exit(143)

    def serve(self, command, name, ports):
        return self.start(self.proxy_core, command, name, ports)

    @staticmethod
    def await_port(port, process, log):
        """Waits longer than for a measurement, as the machine may be busy."""
        ends = time.monotonic() + START
        while process.poll() is None and time.monotonic() < ends:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.1)
        with open(log, errors="replace", encoding="utf-8") as said:
            raise Broken(f"did not start: {' '.join(process.args)}\n{said.read()[-2000:]}")

    def said(self, name):
        with open(self.path(f"{name}.log"), errors="replace", encoding="utf-8") as log:
            return log.read()


def program(name, package):
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/go/bin")
    if not found:
        raise Lacking(f"{name} is not installed (Debian: {package})")
    return found


def call(what, command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Lacking(f"{what} failed: {' '.join(command)}\n{done.stdout[-2000:]}")


@functools.cache
def jars():
    """The directory of Jetty, which Maven brings once for each version of the pom.xml."""
    pom, kept, directory = os.path.join(PROGRAMS, "servers", "pom.xml"), os.path.join(CACHE, "pom.xml"), os.path.join(CACHE, "jars")
    with open(pom, encoding="utf-8") as file:
        wanted = file.read()
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            if file.read() == wanted:
                return directory
    shutil.rmtree(CACHE, ignore_errors=True)
    os.makedirs(CACHE)
    call("Maven",
    [program("mvn", "maven"), "-q", "--strict-checksums", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={directory}"])
    shutil.copy(pom, kept)
    return directory


def built_by_go(machine, source):
    binary = machine.path(os.path.basename(source) + ".program")
    call("go build", [program("go", "golang-go"), "build", "-o", binary, source])
    return binary


def start_gateway(machine, options, lanes):
    """Starts the gateway with a listener for each lane, whose "port" leads by the lane's "routes" to its upstream at "to"."""
    listeners, routes, upstreams = [], [], []
    for lane in lanes:
        spoken = "HTTPS" if lane.tls else "HTTP"
        tls = f", tls: {{certificateRefs: [{{certFile: {machine.path('cert.pem')}, keyFile: {machine.path('key.pem')}}}]}}" if lane.tls else ""
        listeners.append(f"  - {{name: {lane.name}, address: 127.0.0.1, port: {lane.port}, protocol: {spoken}, halfClose: allow{tls}}}")
        routes.append(lane.routes())
        upstreams.append(f"  - {{name: {lane.name}, protocol: http1, endpoints: [{{host: 127.0.0.1, port: {lane.to}}}]}}")
    config = machine.write("gateway.yaml", "\n".join([
        "listeners:", *listeners, "routes:", *routes, "upstreams:", *upstreams, "workers: 1", "accessLog: {format: \"off\"}",
        "drain: {timeout: 1s}", "admin: {address: 127.0.0.1, port: 0}", ""]))
    command = [options.java, "-jar", os.path.abspath(options.jar), "run", "--config", config]
    return machine.serve(command, "gateway", [lane.port for lane in lanes])
