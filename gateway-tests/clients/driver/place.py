"""A network of its own, in which nothing but the tools, the gateway and the mirrors can be reached.

Its addresses count as public, so the gateway needs no exception for them. They exist in the namespace alone.
"""

import os
import shutil
import subprocess
import sys

MARK = "GATEWAY_TESTS_NAMESPACE"
MIRROR = "93.184.215.14"  # serves HTTPS
NOBODY = "93.184.215.15"  # nothing listens here
PRIVATE = "10.1.2.3"  # where an internal name leads
PROXY = "192.168.7.{}"  # the gateway, with an address for each tool: it tells who the client was
PORT = 3128


def proxy_address(number):
    return PROXY.format(number + 1)


def enter():
    """Starts this program again in a network namespace, and waits for it."""
    if os.environ.get(MARK):
        return
    missing = [name for name in ("unshare", "ip", "openssl", "git", "dpkg-deb") if not shutil.which(name)]
    if missing:
        raise SystemExit("these are not installed: " + " ".join(missing))
    rights = "-n" if os.geteuid() == 0 else "-rn"
    command = ["unshare", rights, sys.executable, *sys.argv]
    raise SystemExit(subprocess.call(command, env={**os.environ, MARK: "yes"}))


def furnish(tools):
    """Gives the namespace its addresses, one of them for each tool."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in (MIRROR, NOBODY, *(proxy_address(number) for number in range(tools))):
        subprocess.run(["ip", "address", "add", address + "/32", "dev", "lo"], check=True)
