"""Processes on this machine: started on a core, watched, ended."""

import contextlib
import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
ROOT = os.path.dirname(BENCH)
TICKS = os.sysconf("SC_CLK_TCK")


def open_files():
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_open_files():
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def need(*tools):
    os.environ["PATH"] += ":/usr/sbin:/usr/local/go/bin"
    for tool in tools:
        if not shutil.which(tool):
            sys.exit(f"{tool} is not installed")


PORTS = random.sample(range(20_000, 32_000), 12_000)


def free_ports(count):
    """Ports that nobody got before, below those that outgoing connections take: they stay free until somebody listens."""
    free = []
    while PORTS and len(free) < count:
        port = PORTS.pop()
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            free.append(port)
    if len(free) == count:
        return free
    sys.exit("no free ports from 20000 to 31999")


def tree(pid):
    pids = [pid]
    for p in pids:
        for children in glob.glob(f"/proc/{p}/task/*/children"):
            with contextlib.suppress(OSError):
                pids += [int(c) for c in open(children).read().split()]
    return pids


def cpu_seconds(pid):
    """User and system time of a process and its children so far, by the kernel's clock of each process."""
    total = 0
    for p in tree(pid):
        with contextlib.suppress(OSError):
            total += time.clock_gettime((~p << 3) | 2)  # as clock_getcpuclockid(3) has it: in nanoseconds, not ticks
    return total


def user_and_system(pid):
    user = system = 0
    for p in tree(pid):
        with contextlib.suppress(OSError):
            fields = open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()
            user += int(fields[11]) / TICKS
            system += int(fields[12]) / TICKS
    return user, system


def rss_mib(pid):
    total = 0
    for p in tree(pid):
        with contextlib.suppress(OSError):
            match = re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{p}/status").read())
            total += int(match[1]) if match else 0
    return total / 1024


def connections_to(pid, port):
    """How many established TCP connections a process has to a port of this machine."""
    inodes = set()
    for p in tree(pid):
        for link in glob.glob(f"/proc/{p}/fd/*"):
            with contextlib.suppress(OSError):
                match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link))
                if match:
                    inodes.add(match[1])
    count = 0
    for table in ("tcp", "tcp6"):
        for line in open(f"/proc/net/{table}").readlines()[1:]:
            fields = line.split()
            established = fields[3] == "01"
            count += established and int(fields[2].rsplit(":", 1)[1], 16) == port and fields[9] in inodes
    return count


def connections_at(port):
    """How many established TCP connections a listener of this machine has."""
    fields = (line.split() for table in ("tcp", "tcp6") for line in open(f"/proc/net/{table}").readlines()[1:])
    return sum(f[3] == "01" and int(f[1].rsplit(":", 1)[1], 16) == port for f in fields)


def cipher(port):
    """What a TLS listener agrees on with OpenSSL."""
    out = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}"], input="", capture_output=True, text=True)
    match = re.search(r"New, (\S+), Cipher is (\S+)", out.stdout)
    return f"{match[1]} {match[2]}" if match else "no handshake"


KEYS = {"ec": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["-newkey", "rsa:2048"]}


class Machine:
    """A directory, two cores and the processes on them, all of which end with it."""

    def __init__(self, proxy_core, load_core, key="ec"):
        self.proxy_core = str(proxy_core)
        self.load_core = str(load_core)
        self.key = key
        self.directory = tempfile.mkdtemp(prefix="gateway-bench-")
        os.chmod(self.directory, 0o777)  # nginx's workers are another user
        self.processes = []

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of __exit__
        subprocess.run(
            ["openssl", "req", "-x509", *KEYS[self.key], "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", self.path("key.pem"), "-out", self.path("cert.pem")], check=True, capture_output=True)
        with open(self.path("both.pem"), "w") as both:  # as HAProxy wants it
            both.write(open(self.path("cert.pem")).read() + open(self.path("key.pem")).read())
        return self

    def __exit__(self, *_):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            self.await_end(process)
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return f"{self.directory}/{name}"

    def write(self, name, text):
        with open(self.path(name), "w") as out:
            out.write(text)
        return self.path(name)

    def start(self, core, command, name, ports, environment=None):
        """Starts a process that is ready when it listens on all the ports."""
        log = self.path(f"{name}.log")
        with open(log, "wb") as out:
            process = subprocess.Popen(
                ["taskset", "-c", core, *command], stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                start_new_session=True, env={**os.environ, **(environment or {})})
        self.processes.append(process)
        for port in ports:
            self.await_port(port, process, log)
        return process

    @staticmethod
    def await_port(port, process, log):
        for _ in range(600):
            if process.poll() is not None:
                break
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.05)
        sys.exit(f"did not start: {' '.join(process.args)}\n{open(log, errors='replace').read()[-3000:]}")

    def stop(self, process):
        os.killpg(process.pid, signal.SIGTERM)
        self.await_end(process)
        self.processes.remove(process)

    @staticmethod
    def await_end(process):
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def load(self, command, seconds):
        """Runs a load generator on its core; returns its exit code and what it said."""
        out = subprocess.run(["taskset", "-c", self.load_core, *command], capture_output=True, text=True,
                             timeout=seconds + 60)
        return out.returncode, out.stdout, out.stderr

    def peer(self):
        """Builds the program of both ends that wrk and h2load do not play (once), and returns its path."""
        binary = self.path("peer")
        if not os.path.exists(binary):
            need("go")
            subprocess.run(["go", "build", "-o", binary, "."], cwd=f"{BENCH}/peer", check=True)
        return binary

    def serve_peer(self):
        process = subprocess.Popen(
            ["taskset", "-c", self.load_core, self.peer(), "serve"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
            text=True, start_new_session=True)
        self.processes.append(process)
        return json.loads(process.stdout.readline())
