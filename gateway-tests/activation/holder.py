#!/usr/bin/env python3
"""Holds listening sockets and starts processes that inherit them, as systemd does.

holder.py NAME=ADDRESS... -- COMMAND...     ADDRESS is HOST:PORT (port 0 for any free one) or the path of a socket file

Prints the address of each socket; an empty NAME is given to none. Then, for each line on standard input:
start      starts the command with the sockets, and prints its process id
wait PID   waits for its end, and prints its exit code
Ends with its input; what it has started is killed then.
"""
import os
import socket
import sys

FIRST = 3


def listen(address):
    if address.startswith("/"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
    else:
        host, port = address.rsplit(":", 1)
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
    listener.listen(1024)
    return listener


def start(command, names, listeners):
    pid = os.fork()
    if pid:
        return pid
    try:
        # First out of the way, then to where they are looked for.
        high = [os.dup2(each.fileno(), 100 + i) for i, each in enumerate(listeners)]
        for i, descriptor in enumerate(high):
            os.dup2(descriptor, FIRST + i, inheritable=True)
            os.close(descriptor)
        environment = dict(os.environ, LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(listeners)))
        if any(names):
            environment["LISTEN_FDNAMES"] = ":".join(names)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.execvpe(command[0], command, environment)
    finally:
        os._exit(127)


def main():
    end = sys.argv.index("--")
    command = sys.argv[end + 1 :]
    names, addresses = zip(*(each.split("=", 1) for each in sys.argv[1:end]))
    listeners = [listen(each) for each in addresses]
    for each in listeners:
        name = each.getsockname()
        print(name if isinstance(name, str) else "%s:%d" % name, flush=True)
    running = []
    for line in sys.stdin:
        words = line.split()
        if words[0] == "start":
            running.append(start(command, names, listeners))
            print(running[-1], flush=True)
        elif words[0] == "wait":
            pid = int(words[1])
            running.remove(pid)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    for pid in running:
        os.kill(pid, 9)


main()
