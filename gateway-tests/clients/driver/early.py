"""Answers that come before an upload has ended: how often clients see them behind the gateway, nginx and HAProxy."""

import collections
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time

from . import mirror, proxy, reverse

APPLICATION = 9001
TRIES, MEGABYTES = 5, 20
LONGEST = 65  # seconds of a try: most clients give up after a minute
SLOW_BYTES = 10_000_000 / 8  # that all slow senders have in a second

# Who answers, and what a client asks for.
ANSWERS = {f"{status} of {who}": f"{path}{status}" for who, path in (("the application", "up"), ("the proxy", "upown"))
           for status in (413, 401, 403, 429, 307)}
SHOWN = ("413 of the application", "307 of the proxy")  # without --early; the actions of reverse.py have others

# The sender, the port of each proxy, and its scheme.
PLAIN, TLS, SLOW = "plain", "TLS", "TLS, 10 Mbit/s"
PORTS = {"gateway": (8081, 8444, 8454), "nginx": (8082, 8445, 8455), "haproxy": (8083, 8446, 8456)}
SENDERS = {PLAIN: (0, "http"), TLS: (1, "https"), SLOW: (2, "https")}
ALL = reverse.ALL

GATEWAY = """\
listeners:
  - {{name: plain, port: {ports[0]}, protocol: HTTP}}
  - {{name: tls, port: {ports[1]}, protocol: HTTPS, tls: {{certificateRefs: [{{certFile: "{cert}", keyFile: "{key}"}}]}}}}
  - {{name: slow, port: {ports[2]}, protocol: HTTPS, tls: {{certificateRefs: [{{certFile: "{cert}", keyFile: "{key}"}}]}}}}
routes:
  - rules:
      - matches: [{{path: {{value: /upown413}}}}]
        filters: [{{type: BodyLimit, bodyLimit: {{maxBytes: 1MiB}}}}]
        backendRefs: [{{name: app}}]
      - matches: [{{path: {{value: /upown401}}}}]
        filters: [{{type: BasicAuth, basicAuth: {{usersFile: secrets/users}}}}]
        backendRefs: [{{name: app}}]
      - matches: [{{path: {{value: /upown403}}}}]
        filters: [{{type: IPAccess, ipAccess: {{allow: [192.0.2.1]}}}}]
        backendRefs: [{{name: app}}]
      - matches: [{{path: {{value: /upown429}}}}]
        filters: [{{type: DirectResponse, directResponse: {{statusCode: 429}}}}]
      - matches: [{{path: {{value: /upown307}}}}]
        filters: [{{type: RequestRedirect, requestRedirect: {{statusCode: 307, path: {{type: ReplaceFullPath, replaceFullPath: /up}}}}}}]
      - backendRefs: [{{name: app}}]
upstreams:
  - {{name: app, endpoints: [{{host: 127.0.0.1, port: {application}}}]}}
admin: {{address: 127.0.0.1, port: 0}}
"""

NGINX = """\
user root; daemon off; pid nginx.pid; error_log error.log;
events {{}}
http {{
  access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  upstream app {{ server 127.0.0.1:{application}; keepalive 8; }}
  server {{
    listen {ports[0]}; listen {ports[1]} ssl http2; listen {ports[2]} ssl http2;
    ssl_certificate {cert}; ssl_certificate_key {key};
    client_max_body_size 0;
    location / {{
      proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off;
    }}
    location /upown413 {{ client_max_body_size 1m; proxy_pass http://app; }}
    location /upown401 {{ auth_basic app; auth_basic_user_file {users}; proxy_pass http://app; }}
    location /upown403 {{ deny all; }}
    location /upown429 {{ return 429; }}
    location /upown307 {{ return 307 /up; }}
  }}
}}
"""

HAPROXY = """\
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend all
  bind :{ports[0]}
  bind :{ports[1]} ssl crt {pem} alpn h2,http/1.1
  bind :{ports[2]} ssl crt {pem} alpn h2,http/1.1
  http-request deny deny_status 413 if {{ path /upown413 }}
  http-request auth realm app if {{ path /upown401 }}
  http-request deny deny_status 403 if {{ path /upown403 }}
  http-request deny deny_status 429 if {{ path /upown429 }}
  http-request redirect code 307 location /up if {{ path /upown307 }}
  default_backend app
backend app
  server app 127.0.0.1:{application}
"""

View = collections.namedtuple("View", "base ca big built")


def wait_until_it_listens(process, port, log):
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                with open(log, encoding="utf-8") as file:
                    raise SystemExit(f"{process.args[0]} does not start:\n{file.read()}") from None
            time.sleep(0.1)


class Stage:
    """The application, and the proxies in front of it."""

    def __init__(self, directory, options, size):
        self.directory, self.options, self.size = directory, options, size
        self.ca, self.cert, self.key = mirror.certificate(directory, "early", "localhost")
        self.big = os.path.join(directory, "early")
        mirror.write(self.big, b"x" * size)
        self.built = reverse.Programs(directory).built
        self.running = []
        reverse.Application(APPLICATION)
        proxy.write_users(directory, ["ci"])
        values = {"application": APPLICATION, "cert": self.cert, "key": self.key}
        self.gateway = proxy.Gateway(directory, options, GATEWAY.format(ports=PORTS["gateway"], **values), PORTS["gateway"][2])

    def start_peers(self):
        values = {"application": APPLICATION, "cert": self.cert, "key": self.key}
        pem = os.path.join(self.directory, "both.pem")
        with open(self.cert, encoding="utf-8") as cert, open(self.key, encoding="utf-8") as key:
            mirror.write(pem, (cert.read() + key.read()).encode())
        users = os.path.join(self.directory, "secrets", "users")
        nginx = os.path.join(self.directory, "nginx.conf")
        mirror.write(nginx, NGINX.format(ports=PORTS["nginx"], users=users, **values))
        self.start("nginx", ["nginx", "-p", self.directory, "-c", nginx])
        haproxy = os.path.join(self.directory, "haproxy.cfg")
        mirror.write(haproxy, HAPROXY.format(ports=PORTS["haproxy"], pem=pem, application=APPLICATION))
        self.start("haproxy", ["haproxy", "-db", "-f", haproxy])

    def start(self, name, command):
        log = os.path.join(self.directory, name + ".log")
        with open(log, "wb") as file:
            self.running.append(subprocess.Popen([shutil.which(command[0]), *command[1:]], stdout=file, stderr=file, cwd=self.directory))
        wait_until_it_listens(self.running[-1], PORTS[name][0], log)

    def slow_down(self):
        """Lets the bytes to the ports of the slow sender have 10 Mbit/s together."""
        def tc(kind, *words):
            subprocess.run(["tc", kind, "add", "dev", "lo", *words], check=True, stderr=subprocess.DEVNULL)

        tc("qdisc", "root", "handle", "1:", "htb", "default", "1")
        tc("class", "parent", "1:", "classid", "1:1", "htb", "rate", "10gbit")
        tc("class", "parent", "1:", "classid", "1:2", "htb", "rate", f"{SLOW_BYTES * 8:.0f}bit", "burst", "128k")
        for ports in PORTS.values():
            tc("filter", "protocol", "ip", "parent", "1:", "prio", "1", "u32", "match", "ip", "dport", str(ports[2]), "0xffff", "flowid", "1:2")

    def seen(self, client, name, sender, answer, tries):
        """Returns how often a client saw the answer."""
        index, scheme = SENDERS[sender]
        view = View(f"{scheme}://localhost:{PORTS[name][index]}", self.ca, self.big, self.built)
        action = ANSWERS[answer]
        # Without its optimizing compiler, Java encrypts slowly.
        command = [word for word in client.command(view, client.path(), action) if word != "-XX:TieredStopAtLevel=1"]
        wanted = (action[-3:], f"200 {self.size}" if action.endswith("307") else action[-3:])
        curl = client.program == "curl"
        longest = LONGEST + (2 * self.size / SLOW_BYTES if sender == SLOW else 0)  # it may send all of it twice
        said = []
        for _ in range(tries if curl else 1):
            with tempfile.TemporaryFile() as screen:
                code = 1
                with contextlib.suppress(subprocess.TimeoutExpired):  # what it has said until then counts
                    code = subprocess.run(
                        command, cwd=reverse.PROGRAMS, stdout=screen, stderr=screen, stdin=subprocess.DEVNULL,
                        env=reverse.environment(self.size, 1 if curl else tries), timeout=longest * (1 + tries), check=False).returncode
                screen.seek(0)
                text = screen.read().decode("utf-8", "replace").strip()
                said += [reverse.judge(code, text, action)] if curl else text.splitlines()
        if self.options.print:
            print(f"--- {client.name}, {name}, {sender}, {answer}: {collections.Counter(said).most_common()}", flush=True)
        return sum(line.strip() in wanted for line in said)

    def stop(self):
        try:
            self.gateway.stop()
        finally:
            for process in self.running:
                proxy.end(process)


def suits(client, sender):
    """HTTP/2 needs TLS here."""
    return sender != PLAIN or not client.speaks_http2
