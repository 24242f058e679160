"""The gateway, and the recipe of docs/tunnels.md ("A sandbox") with users."""

import json
import os
import subprocess
import time

from . import mirror

PASSWORD = "open@sesame/1"
QUOTED = "open%40sesame%2F1"  # as a URL has it
WRONG = "mistyped"
REFUSALS = ("proxy_auth", "policy_host", "policy_port", "policy_address", "connect_failed", "dns_failed", "rate_limited")

CONFIGURATION = """\
listeners:
  - {name: egress, port: 3128, protocol: HTTP}
connect:
  - parentRefs: [{name: egress}]
    allow: [.mirror.example]
    sni: mustMatch
    limits: {maxTunnels: 100}
    auth: {basic: {usersFile: secrets/users}}
"""
# The resolver of the test, and any port for the admin listener, so that another gateway may run.
REST = """\
resolver: {{nameServers: ["127.0.0.1:{}"]}}
admin: {{address: 127.0.0.1, port: 0}}
"""


def recipe():
    return CONFIGURATION.rstrip()


def write_users(directory, users):
    digest = subprocess.run(["openssl", "passwd", "-6", PASSWORD], capture_output=True, text=True, check=True).stdout.strip()
    mirror.write(os.path.join(directory, "secrets", "users"), "".join(f"{user}:{digest}\n" for user in users))


class Failed(Exception):
    """The gateway does not start."""


def end(process):
    """Ends a process, by force if it does not end by itself."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Gateway:
    def __init__(self, directory, options, configuration, port):
        self.log_path = os.path.join(directory, "gateway.log")
        self.file = os.path.join(directory, "gateway.yaml")
        mirror.write(self.file, configuration)
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([options.java, "-jar", options.jar, "run", self.file], stdout=log, stderr=log)
        try:
            self.wait_until_it_listens(port)
        except BaseException:
            self.stop()
            raise

    def wait_until_it_listens(self, port):
        deadline = time.monotonic() + 60
        while not any("Listener " in line and f":{port}/" in line for line in self.lines()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed("the gateway does not start:\n" + "\n".join(self.lines()))
            time.sleep(0.1)

    def lines(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read().splitlines()

    def cause(self, address, host, since, expected):
        """Returns why the gateway refused the last request of a client for a host. Waits for the expected cause.

        The number of lines before the request is known, as an earlier request for the host may have had another cause.
        """
        deadline = time.monotonic() + (10 if expected else 0)
        while True:
            last = ""
            for line in self.lines()[since:]:
                entry = json.loads(line) if line.startswith('{"time"') and line.endswith("}") else {}
                if entry.get("client") != address or not entry.get("authority", "").startswith(host):
                    continue
                cause = entry.get("cause")
                # git sends its password only when the gateway has asked for it.
                if cause in REFUSALS and (cause != "proxy_auth" or cause == expected):
                    last = cause
            if last == (expected or "") or time.monotonic() > deadline:
                return last
            time.sleep(0.05)

    def stop(self):
        end(self.process)
