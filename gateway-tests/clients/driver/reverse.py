"""HTTP clients of a reverse proxy: what each does there, the application behind it, and the gateway between them."""

import contextlib
import glob
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from . import mirror, proxy

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "reverse")
CLIENTS = os.environ.get("CLIENTS", "")
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else shutil.which("java") or "java"
SIZE = 50 * 1024 * 1024
PORT, APPLICATION, RESTARTED = 8443, 9000, 9002
DOWN = 1  # second, for which the application is gone
REFUSALS = {"/up401": "WWW-Authenticate: Basic realm=app\r\n", "/up307": "Location: /up\r\n"}  # Java needs the challenge
ERROR = "an error"

# What a client does, the answer that it is to get, and what the page calls it.
ACTIONS = {
    "login": ("200 hello", "log in"),
    "up": (f"200 {SIZE}", "upload"),
    "down": (f"200 {SIZE}", "download"),
    "stream": ("5 pieces", "read a stream"),
    "again": ("200 hello", "go on across a reload"),
    "up413": ("413", "413 of the application"),
    "up401": ("401", "401 of the application"),
    "uplimit": ("413", "413 of the gateway"),
    "upauth": ("401", "401 of the gateway"),
    "cut": (ERROR, "notice a cut"),
    "restart": ("cut, 200 hello", "go on across a restart"),
}

CONFIGURATION = """\
listeners:
  - name: web
    port: {port}
    protocol: HTTPS
    tls: {{certificateRefs: [{{certFile: "{cert}", keyFile: "{key}"}}]}}
routes:
  - rules:
      - matches: [{{path: {{value: /login}}}}, {{path: {{value: /upauth}}}}]
        filters: [{{type: BasicAuth, basicAuth: {{usersFile: secrets/users}}}}]
        backendRefs: [{{name: app}}]
      - matches: [{{path: {{value: /uplimit}}}}]
        filters: [{{type: BodyLimit, bodyLimit: {{maxBytes: 1MiB}}}}]
        backendRefs: [{{name: app}}]
      - matches: [{{path: {{value: /restart}}}}]
        backendRefs: [{{name: restarted}}]
      - backendRefs: [{{name: app}}]
        timeouts: {{request: {seconds}s}}
upstreams:
  - {{name: app, endpoints: [{{host: 127.0.0.1, port: {application}}}]}}
  - {{name: restarted, endpoints: [{{host: 127.0.0.1, port: {restarted}}}]}}
admin: {{address: 127.0.0.1, port: 0}}
"""


def environment(size=SIZE, tries=1):
    return {
        **os.environ, "NODE_PATH": os.path.join(CLIENTS, "node_modules"), "PYTHONWARNINGS": "ignore", "USE_SIZE": str(size),
        "USE_TRIES": str(tries)}


class Client:
    def __init__(self, name, program, command, version):
        self.name = name
        self.speaks_http2 = name.endswith("HTTP/2")
        self.program = program  # what must be there
        self.command = command  # of the stage, the program, and an action
        self.version_command = version

    def path(self):
        found = shutil.which(self.program) or glob.glob(self.program)
        return found[0] if isinstance(found, list) and found else found or None

    def version(self):
        done = subprocess.run(
            [self.path(), *self.version_command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=PROGRAMS,
            env=environment())
        return re.search(r"\d+\.\d+(\.\d+)*", done.stdout).group()


def curl(version):
    def command(stage, program, action):
        up = action.startswith("up")
        urls = {"again": ["/close", "/hello"], "restart": ["/restart", "/restart/hello"]}.get(action, ["/" + action])
        line = [program, "-sS", "-q", "--http" + version, "--cacert", stage.ca, "--max-time", "60", "-w", "\n%{http_code}\n"]
        line += ["-u", f"ci:{proxy.PASSWORD}"] if action == "login" else []
        line += ["--data-binary", "@" + stage.big] if up else []
        return line + [stage.base + url for url in urls]

    return Client(f"curl, HTTP/{version}", "curl", command, ["--version"])


def python(name, library, module, version=None):
    return Client(
        name, os.path.join(CLIENTS, "bin", "python"),
        lambda stage, program, action: [program, "use.py", library, stage.base, stage.ca, action],
        ["-c", version or f"import {module}; print({module}.__version__)"])


def java(name, version):
    return Client(
        name, JAVA,
        lambda stage, program, action: [program, "-XX:TieredStopAtLevel=1", "Use.java", version, stage.base, stage.ca, action], ["-version"])


def jar(name, library, *words):
    """A client of a jar, whose name has its version."""
    program = f"Use{library}.java"
    found = Client(
        name, os.path.join(CLIENTS, "jars", JARS[library]),
        lambda stage, path, action: [
            JAVA, "-XX:TieredStopAtLevel=1", "-cp",
            os.path.join(os.path.dirname(path), "*"), program, *words, stage.base, stage.ca, action],
        None)
    found.version = lambda: re.search(r"-(\d+\.\d+(\.\d+)*)\.jar", found.path()).group(1)
    return found


def reqwest(name, version):
    lock = os.path.join(PROGRAMS, "..", "reqwest", "Cargo.lock")
    found = Client(
        name, os.path.join(CLIENTS, "bin", "use"), lambda stage, program, action: [program, version, stage.base, stage.ca, action], None)

    def version_of_lock():
        with open(lock, encoding="utf-8") as file:
            return re.search(r'name = "reqwest"\nversion = "(.*)"', file.read()).group(1)

    found.version = version_of_lock
    return found


def go(name, version):
    return Client(
        name, "go", lambda stage, program, action: [stage.built(program), version, stage.base, stage.ca, action], ["version"])


JARS = {"OkHttp": "okhttp-jvm-*.jar", "Apache": "httpclient5-*.jar"}
LIBCURL = "import pycurl; print(pycurl.version_info()[1])"
ALL = (
    curl("1.1"), curl("2"),
    python("libcurl, HTTP/1.1", "libcurl", "pycurl", LIBCURL), python("libcurl, HTTP/2", "libcurl-h2", "pycurl", LIBCURL),
    python("urllib", "urllib", "sys", "import platform; print(platform.python_version())"),
    python("requests", "requests", "requests"), python("httpx, HTTP/1.1", "httpx", "httpx"), python("httpx, HTTP/2", "httpx-h2", "httpx"),
    python("aiohttp", "aiohttp", "aiohttp"),
    Client(
        "undici", "node", lambda stage, program, action: [program, "use.cjs", stage.base, stage.ca, action],
        ["-p", "require('undici/package.json').version"]),
    java("Java's HttpClient, HTTP/1.1", "HTTP_1_1"), java("Java's HttpClient, HTTP/2", "HTTP_2"),
    jar("OkHttp, HTTP/1.1", "OkHttp", "HTTP_1_1"), jar("OkHttp, HTTP/2", "OkHttp", "HTTP_2"), jar("Apache HttpClient", "Apache"),
    go("Go, HTTP/1.1", "HTTP_1_1"), go("Go, HTTP/2", "HTTP_2"),
    reqwest("reqwest, HTTP/1.1", "HTTP_1_1"), reqwest("reqwest, HTTP/2", "HTTP_2"),
)


class Programs:
    """The programs of clients that are built."""

    def __init__(self, directory):
        self.directory = directory
        self.lock = threading.Lock()
        self.program = None

    def built(self, go):
        """Builds the program of Go once."""
        with self.lock:
            if not self.program:
                self.program = os.path.join(self.directory, "use")
                settings = {**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local"}
                subprocess.run([go, "build", "-o", self.program, os.path.join(PROGRAMS, "use.go")], check=True, env=settings)
        return self.program


class Stage:
    """The application, and the gateway in front of it."""

    def __init__(self, directory, options):
        self.directory = directory
        self.print = options.print
        self.base = f"https://localhost:{PORT}"
        self.ca, cert, key = mirror.certificate(directory, "application", "localhost")
        self.big = os.path.join(directory, "big")
        mirror.write(self.big, b"x" * SIZE)
        self.lock = threading.Lock()
        self.built = Programs(directory).built
        self.reloads = 0
        self.configuration = {"port": PORT, "application": APPLICATION, "restarted": RESTARTED, "cert": cert, "key": key}
        Application(APPLICATION, self.reload)
        Application(RESTARTED)
        self.restarting = threading.Lock()  # one client at a time
        proxy.write_users(directory, ["ci"])
        self.gateway = proxy.Gateway(directory, options, CONFIGURATION.format(seconds=300, **self.configuration), PORT)

    def stop(self):
        self.gateway.stop()

    def play(self, client, action):
        command = client.command(self, client.path(), action)
        with tempfile.TemporaryFile() as screen:
            try:
                code = subprocess.run(
                    command, cwd=PROGRAMS, stdout=screen, stderr=screen, stdin=subprocess.DEVNULL, env=environment(), timeout=120,
                    check=False).returncode
            except subprocess.TimeoutExpired:
                return "it hangs"
            screen.seek(0)
            said = screen.read().decode("utf-8", "replace").strip()
        if self.print:
            print(f"--- {client.name}, {action}\n{said[-300:]}", flush=True)
        if client.program == "curl":
            return judge(code, said, action)
        last = said.splitlines()[-1] if said else "nothing"
        return ERROR if last.startswith("error:") else last

    def play_all(self, client):
        return {action: self.play(client, action) for action in ACTIONS if action != "restart"} | {"restart": self.play_restart(client)}

    def play_restart(self, client):
        with self.restarting:
            return self.play(client, "restart")

    def reload(self):
        with self.lock:
            before = self.generations()
            self.reloads += 1
            text = CONFIGURATION.format(seconds=300 + self.reloads, **self.configuration)
            mirror.write(self.gateway.file + ".new", text)
            os.rename(self.gateway.file + ".new", self.gateway.file)
            deadline = time.monotonic() + 60
            while self.generations() == before and time.monotonic() < deadline:
                time.sleep(0.1)

    def generations(self):
        return sum("Reloaded: generation" in line for line in self.gateway.lines())


class Application:
    """Speaks HTTP/1.1, and what it does depends on the path."""

    def __init__(self, port, close=None):
        self.port = port
        self.close = close  # what happens at /close
        self.start()

    def start(self):
        self.server = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.connections = []
        threading.Thread(target=self.accept, args=(self.server, self.connections), daemon=True).start()

    def accept(self, server, connections):
        try:
            while True:
                connection, _ = server.accept()
                connections.append(connection)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
        except OSError:
            pass  # it ends

    def restart(self):
        """Ends like a process that is killed, and comes back."""
        self.server.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self.server.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):  # it has been closed
                connection.shutdown(socket.SHUT_RDWR)
        time.sleep(DOWN)
        self.start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as reader:
            try:
                while self.answer(connection, reader):
                    pass
            except OSError:
                pass  # the gateway has gone

    def answer(self, connection, reader):
        """Answers a request, and returns whether another one may follow."""
        line = reader.readline()
        if not line:
            return False
        path = line.split()[1].decode()
        fields = {}
        while field := reader.readline().strip():
            name, _, value = field.decode().partition(":")
            fields[name.lower()] = value.strip()
        if re.fullmatch(r"/up\d+", path):
            head = f"HTTP/1.1 {path[3:]} Refused\r\n{REFUSALS.get(path, '')}Content-Length: 0\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
            return False
        if path in ("/cut", "/restart"):
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n".encode() + b"x" * 1_000_000)
            if path == "/restart":
                self.restart()
            return False
        if path == "/stream":
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for number in range(5):
                connection.sendall(b"6\r\nline%d\n\r\n" % number)
                time.sleep(0.1)  # so that they are five pieces on the wire, too
            connection.sendall(b"0\r\n\r\n")
            return True
        received = body_size(reader, fields)
        if path == "/close":
            self.close()
        body = str(received).encode() if path.startswith("/up") else b"x" * SIZE if path == "/down" else b"hello"
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        return True


def body_size(reader, fields):
    if "transfer-encoding" not in fields:
        return len(reader.read(int(fields.get("content-length", 0))))
    received = 0
    while size := int(reader.readline(), 16):
        received += len(reader.read(size))
        reader.readline()
    reader.readline()
    return received


def judge(code, said, action):
    """Returns what curl was answered."""
    if code:
        return ERROR
    *body, status = said.splitlines()
    text = "\n".join(body)
    if action == "stream":
        return f"{text.count('line')} pieces"
    if action == "restart":
        # The piece of the download, and what curl says of it, precede the answer.
        return f"cut, {status} {body[-1]}" if "curl: (" in text else f"whole, {status} {body[-1]}"
    if status != "200":
        return status
    return f"200 {len(text.strip()) if action == 'down' else 'hello' if action == 'again' else text.strip()}"
