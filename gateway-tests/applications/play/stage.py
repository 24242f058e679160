"""An application behind the gateway: how both start and end, and what every application must do there."""

import hashlib
import http.client
import os
import random
import re
import select
import shlex
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.parse

from . import install
from .rig import mirror, proxy

WORKS, FAILS = "works", "fails"
SIZE = 150_000_000
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Wrong(Exception):
    """What an application or its client did wrong."""


def check(actual, expected, what=""):
    if actual != expected:
        raise Wrong(f"{what} {actual!r:.300}, not {expected!r:.300}")


class Action:
    """What a user does with an application. A needed key is a line of the configuration without which the action fails."""

    def __init__(self, method, title, needs, fails, note, plain):
        self.method = method
        self.title = title
        self.needs = needs
        self.fails = fails
        self.note = note
        self.plain = plain


def action(title, needs=None, fails=False, note="", plain=False):
    """Marks a method of an application. The note says what a user must know. A plain action runs with defaults alone."""

    def mark(method):
        method.action = Action(method.__name__, title, needs, fails, note, plain)
        return method

    return mark


class Application:
    """One application. Subclasses say how it starts, and have a method for each action."""

    name = ""
    listener = rule = upstream = ""  # what the recipe adds to these, in YAML
    base = ""  # of the paths
    big = None  # the path of something large
    headers = {}  # that get it
    seconds = 90  # that a start may take

    def has_recipe(self):
        return bool(self.listener or self.rule or self.upstream)

    def version(self):
        raise NotImplementedError

    def install(self):
        """Puts the pinned version into the cache, unless it is there."""

    def prepare(self, stage):
        """Makes the files that the application starts with, once."""

    def command(self, stage):
        """Returns what starts it, in the foreground, on stage.application_port."""
        raise NotImplementedError

    def environment(self, stage):
        return {}

    def finish(self, stage):
        """Removes what it leaves behind when it has ended."""

    def ready(self, stage):
        """Returns whether it answers."""
        try:
            socket.create_connection(("127.0.0.1", stage.application_port), 1).close()
            return True
        except OSError:
            return False

    def actions(self):
        """Returns those of the class itself first, then those of every application."""
        found = {}
        for each in type(self).__mro__:
            for method in vars(each).values():
                if hasattr(method, "action"):
                    found.setdefault(method.action.method, method.action)
        unsuitable = () if self.big else ("download", "across_reload", "cut", "refused_while_down")
        return [each for name, each in found.items() if name not in unsuitable]

    # --- What every application does that has something large at a path

    @action("download 150 MB")
    def download(self, via):
        size, status = via.curl(self.big, *self.header_options(), output=True)
        check((status, size), (200, SIZE), "download:")

    @action("go on across a reload of the gateway")
    def across_reload(self, via):
        with via.request("GET", self.big, headers=self.headers) as answer:
            check(answer.status, 200, "status")
            size = len(answer.read(1_000_000))
            via.stage.reload()
            while piece := answer.read(1_000_000):
                size += len(piece)
            check(size, SIZE, "size")

    @action("notice that the application was killed in a download")
    def cut(self, via):
        with via.request("GET", self.big, headers=self.headers) as answer:
            size = len(answer.read(1_000_000))
            via.stage.kill()
            try:
                while piece := answer.read(1_000_000):
                    size += len(piece)
            except (http.client.IncompleteRead, OSError):
                pass  # of chunks
            else:
                if size == SIZE or "Content-Length" not in answer.headers:
                    raise Wrong(f"the download seems whole, with {size} bytes")
        with via.request("GET", self.base or "/", headers=self.headers) as answer:
            if answer.status not in (502, 503):
                raise Wrong(f"{answer.status} while it is down")

    @action("go on after its restart")
    def restart(self, via):
        via.stage.start()
        if self.big:
            self.download(via)

    def header_options(self):
        return [word for name, value in self.headers.items() for word in ("-H", f"{name}: {value}")]


class Via:
    """The way of a client to the application: through a listener with the recipe, one without, or directly."""

    def __init__(self, stage, port, secure_port=None):
        self.stage = stage
        self.port = port
        self.secure_port = secure_port
        self.plain = f"http://localhost:{port}"
        self.secure = f"https://localhost:{secure_port}" if secure_port else self.plain

    def request(self, method, path, body=None, headers=None):
        """Returns the answer to a request over TLS, as a context that closes the connection."""
        if self.secure_port:
            connection = http.client.HTTPSConnection("localhost", self.secure_port, timeout=60, context=self.stage.tls)
        else:
            connection = http.client.HTTPConnection("localhost", self.port, timeout=60)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return Closing(answer, connection)

    def ask(self, method, path, body=None, headers=None):
        """Returns status, header fields and body."""
        with self.request(method, path, body, headers) as answer:
            return answer.status, answer.headers, answer.read()

    def curl(self, path, *options, output=False):
        """Returns the body, or its size, and the status. HTTP/2 is used where the listener offers it."""
        done = self.stage.run(
            "curl", "-sS", "-q", "--http2", "--cacert", self.stage.ca, "--max-time", "120", "-w", "\n%{http_code} %{size_download}",
            *(["-o", "/dev/null"] if output else []), *options, self.secure + path)
        body, _, last = done.rpartition("\n")
        status, size = last.split()
        return (int(size) if output else body), int(status)

    def cookie_file(self):
        return os.path.join(self.stage.directory, f"cookies-{time.monotonic_ns()}")


class Closing:
    def __init__(self, answer, connection):
        self.answer = answer
        self.connection = connection

    def __enter__(self):
        return self.answer

    def __exit__(self, *_):
        self.connection.close()


LISTENER = """\
  - {{name: {name}, port: {port}, protocol: HTTP, address: 127.0.0.1{keys}}}
  - name: {name}-tls
    port: {secure}
    address: 127.0.0.1
    protocol: HTTPS
    tls: {{certificateRefs: [{{certFile: "{cert}", keyFile: "{key}"}}]}}
{more}"""
ROUTE = """\
  - parentRefs: [{{name: {name}}}, {{name: {name}-tls}}]
    rules:
      - backendRefs: [{{name: {name}}}]
        timeouts: {{request: {seconds}s}}
{keys}"""
UPSTREAM = """\
  - name: {name}
    endpoints: [{{host: 127.0.0.1, port: {port}}}]
{keys}"""


class Stage:
    """One application, and the gateway in front of it."""

    def __init__(self, application, options):
        self.application = application
        self.options = options
        # What cannot be removed stays; it must not hide what else went wrong.
        self.temporary = tempfile.TemporaryDirectory(prefix="application", ignore_cleanup_errors=True)
        self.directory = self.temporary.name
        self.cache = install.CACHE
        self.process = self.gateway = None
        self.reloads = 0
        self.log = open(os.path.join(self.directory, "application.log"), "ab")
        try:
            self.ca, self.cert, self.key = mirror.certificate(self.directory, "stage", "localhost")
            self.tls = ssl.create_default_context(cafile=self.ca)
            ports = free_ports(8)
            self.application_port, self.more_ports = ports[0], ports[5:]
            self.defaults = Via(self, ports[1], ports[2])
            self.recipe = Via(self, ports[3], ports[4])
            self.direct = Via(self, self.application_port)
            application.prepare(self)
            self.start()
            self.gateway = proxy.Gateway(self.directory, options, self.configuration(), self.defaults.port)
        except BaseException:
            self.stop()
            raise

    # --- The gateway

    def configuration(self):
        """Returns that of a gateway with two ways to the application: with defaults, and with the keys of the recipe."""
        application = self.application
        ways = {"defaults": (self.defaults, "", "", "")}
        if application.has_recipe():
            ways["recipe"] = (self.recipe, application.listener, application.rule, application.upstream)
        listeners = routes = upstreams = ""
        for name, (via, listener, rule, upstream) in ways.items():
            pairs = "".join(", " + line for line in listener.splitlines())
            listeners += LISTENER.format(
                name=name, port=via.port, secure=via.secure_port, keys=pairs, more=indent(listener, 4), cert=self.cert, key=self.key)
            routes += ROUTE.format(name=name, seconds=300 + self.reloads, keys=indent(rule, 8))
            upstreams += UPSTREAM.format(name=name, port=self.application_port, keys=indent(upstream, 4))
        more = application.more(self) if hasattr(application, "more") else ("", "")
        return (f"listeners:\n{listeners}routes:\n{more[0]}{routes}upstreams:\n{upstreams}{more[1]}"
                "admin: {address: 127.0.0.1, port: 0}\n")

    def reload(self):
        before = self.generations()
        self.reloads += 1
        mirror.write(self.gateway.file + ".new", self.configuration())
        os.rename(self.gateway.file + ".new", self.gateway.file)
        wait(lambda: self.generations() > before, 60, "the gateway does not reload")

    def generations(self):
        return sum("Reloaded: generation" in line for line in self.gateway.lines())

    # --- The application

    def start(self):
        """Starts the application, unless it runs, and waits until it answers."""
        if self.process and self.process.poll() is None:
            return
        self.process = subprocess.Popen(
            self.application.command(self), stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, start_new_session=True,
            cwd=self.directory, env={**os.environ, **self.application.environment(self)})

        def ready():
            if self.process.poll() is not None:
                raise Wrong(f"{self.application.name} ends with {self.process.returncode}:\n{self.said()}")
            return self.application.ready(self)

        wait(ready, self.application.seconds, f"{self.application.name} does not start")

    def kill(self):
        """Kills the application with all that it has started."""
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.application.finish(self)

    def said(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as log:
            return log.read()[-3000:]

    def stop(self):
        """Ends all, whatever fails meanwhile."""
        try:
            if self.gateway:
                self.gateway.stop()
        finally:
            try:
                self.stop_application()
            finally:
                self.log.close()
                self.temporary.cleanup()

    def stop_application(self):
        """Lets the application end well first, so that it leaves nothing behind."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                pass
        self.kill()

    # --- Clients

    def run(self, *command, stdin=None, timeout=150, environment=None, fails=False):
        """Runs a client and returns what it printed. Raises Wrong if it fails, or if it does not and should."""
        try:
            done = subprocess.run(
                command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout,
                check=False, cwd=self.directory, env={**os.environ, "SSL_CERT_FILE": self.ca, **(environment or {})},
                **({} if stdin is not None else {"stdin": subprocess.DEVNULL}))
        except subprocess.TimeoutExpired as e:
            raise Wrong(f"{shlex.join(command)[:200]} hangs") from e
        if (done.returncode != 0) != fails:
            raise Wrong(f"{shlex.join(command)[:300]}: {done.returncode}, {done.stdout[-2000:]}")
        return done.stdout

    def node(self, program, *arguments, **more):
        environment = {"NODE_PATH": os.path.join(self.cache, "npm", "node_modules"), "NODE_EXTRA_CA_CERTS": self.ca}
        return self.run("node", os.path.join(HERE, "clients", program), *arguments, environment=environment, **more)

    def popen(self, *command, environment=None):
        """Starts a client whose output is read while it runs. The caller ends it."""
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0, cwd=self.directory,
            env={**os.environ, "SSL_CERT_FILE": self.ca, **(environment or {})})

    def popen_node(self, program, *arguments):
        environment = {"NODE_PATH": os.path.join(self.cache, "npm", "node_modules"), "NODE_EXTRA_CA_CERTS": self.ca}
        return self.popen("node", os.path.join(HERE, "clients", program), *arguments, environment=environment)

    def big_file(self):
        """Returns a file of SIZE bytes that do not compress, and its SHA-256."""
        path = os.path.join(self.directory, "big")
        if not os.path.exists(path):
            block = os.urandom(1_000_000)
            mirror.write(path, block * (SIZE // len(block)))
        with open(path, "rb") as file:
            return path, hashlib.file_digest(file, "sha256").hexdigest()


def indent(text, columns):
    return "".join(" " * columns + line + "\n" for line in text.splitlines())


def free_ports(count):
    """Returns ports that no outgoing connection can take while an application is down."""
    ports = []
    while len(ports) < count:
        port = random.randrange(20_000, 32_000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        if port not in ports:
            ports.append(port)
    return ports


def wait(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Wrong(what)
        time.sleep(0.1)


def until(process, text, seconds=60):
    """Reads what a client prints until it contains the text, and returns it. A later call sees nothing of it."""
    deadline = time.monotonic() + seconds
    read = ""
    while text not in read:
        left = deadline - time.monotonic()
        if left < 0 or not select.select([process.stdout], [], [], left)[0]:
            raise Wrong(f"no '{text}' in {seconds} s in {read[-1500:]}")
        piece = os.read(process.stdout.fileno(), 65536)
        if not piece:
            raise Wrong(f"no '{text}', but the end, in {read[-1500:]}")
        read += piece.decode("utf-8", "replace")
    return read


def until_newer(process, text, seconds=60):
    """Waits until a client prints the text because of what happens from now on.

    What it has printed before is dropped. The next text may have been under way, so the one after it counts.
    """
    while select.select([process.stdout], [], [], 0)[0]:
        if not os.read(process.stdout.fileno(), 65536):
            raise Wrong(f"no '{text}', but the end")
    until(process, text, seconds)
    until(process, text, seconds)


def end(client):
    """Ends a client that popen has started."""
    client.kill()
    client.wait()
    client.stdout.close()


def form(**fields):
    return urllib.parse.urlencode(fields)


def found(pattern, text):
    match = re.search(pattern, text)
    if not match:
        raise Wrong(f"no {pattern} in {text[:500]}")
    return match.group(1)
