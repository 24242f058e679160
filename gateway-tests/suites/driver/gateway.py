"""The gateway under test, and the upstream behind it."""

import contextlib
import os
import shutil
import subprocess
import sys
import time

from harness import machine as machines

from . import tools

BUILT = os.path.join(machines.ROOT, "gateway-core", "target", "gateway.jar")
HERE = os.path.dirname(os.path.abspath(__file__))


class Broken(Exception):
    """A run that says nothing about the gateway, or nothing good."""


class Machine(machines.Machine):
    """All cores, and all that a suite starts; it ends with the suite."""

    def __init__(self):
        cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0)))
        super().__init__(cores, cores)
        self.gateway = None

    def serve(self, command, name, ports):
        return self.start(self.proxy_core, command, name, ports)

    def run(self, command, name, seconds):
        """Runs a program of a suite to its end; returns its exit code and what it said."""
        return self.finish(self.serve(command, name, []), name, seconds)

    def finish(self, process, name, seconds):
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Broken(f"{name} has not ended after {seconds:.0f} s:\n{self.said(name)[-2000:]}") from None
        self.processes.remove(process)
        return code, self.said(name)

    def said(self, name):
        with open(self.path(f"{name}.log"), errors="replace") as log:
            return log.read()

    def origin(self):
        """Starts the upstream of most suites; returns its port."""
        [port] = machines.free_ports(1)
        self.serve([sys.executable, os.path.join(HERE, "origin.py"), str(port)], "origin", [port])
        return port

    def check_gateway(self):
        """A gateway that died would look safe to the suites that only search for weaknesses."""
        if self.gateway is None or self.gateway.poll() is not None:
            raise Broken(f"the gateway is gone:\n{self.said('gateway')[-2000:]}")


class Ports:
    """Where clients find the gateway."""

    def __init__(self, clear, secure):
        self.clear = clear
        self.secure = secure


def start(machine, options, upstream):
    """Starts the gateway with what it does by default, before an upstream on a port of this machine."""
    if not os.path.exists(options.jar):
        raise tools.Unavailable(f"there is no {options.jar}: mvn -q package -DskipTests -pl gateway-core -am")
    if not shutil.which(options.java):
        raise tools.Unavailable(f"there is no {options.java}")
    clear, secure, admin = machines.free_ports(3)
    config = machine.write("gateway.yaml", f"""listeners:
  - {{name: clear, address: 127.0.0.1, port: {clear}, protocol: HTTP}}
  - name: secure
    address: 127.0.0.1
    port: {secure}
    protocol: HTTPS
    tls: {{certificateRefs: [{{certFile: {machine.path('cert.pem')}, keyFile: {machine.path('key.pem')}}}]}}
routes: [{{rules: [{{backendRefs: [{{name: app}}]}}]}}]
upstreams: [{{name: app, endpoints: [{{host: 127.0.0.1, port: {upstream}}}]}}]
admin: {{address: 127.0.0.1, port: {admin}}}
accessLog: {{format: "off"}}
""")
    machine.gateway = machine.serve(
        [options.java, "-jar", os.path.abspath(options.jar), "run", "--config", config], "gateway",
        [clear, secure, admin])
    return Ports(clear, secure)


def await_line(machine, name):
    """The first line that a process prints."""
    for _ in range(600):
        with contextlib.suppress(ValueError):
            said = machine.said(name)
            return said[:said.index("\n")]
        time.sleep(0.05)
    raise Broken(f"{name} says nothing")
