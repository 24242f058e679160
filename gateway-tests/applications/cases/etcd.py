"""etcd, whose API is gRPC, with etcdctl."""

import json
import os
import select

from play import install
from play.stage import Application, Wrong, action, check, end, until, wait


class Etcd(Application):
    name = "etcd"
    how = "Debian's `etcd-server` runs without TLS. The client is etcdctl, by gRPC over TLS."
    upstream = "protocol: h2c"

    def version(self):
        return install.debian_version("etcd-server").split("-")[0]

    def install(self):
        install.debian("etcd-server", "etcd-client")

    def programs(self, stage):
        return os.path.join(stage.cache, "debian-etcd-server-etcd-client", "usr", "bin")

    def command(self, stage):
        here, peer = f"http://127.0.0.1:{stage.application_port}", f"http://127.0.0.1:{stage.more_ports[0]}"
        return [
            os.path.join(self.programs(stage), "etcd"), "--data-dir", os.path.join(stage.directory, "data"), "--listen-client-urls", here,
            "--advertise-client-urls", here, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster",
            f"default={peer}", "--quota-backend-bytes", "1000000000", "--log-level", "warn", "--logger", "zap"]

    def ready(self, stage):
        try:
            return json.loads(stage.direct.ask("GET", "/health")[2])["health"] == "true"
        except OSError:
            return False

    def line(self, via, *arguments, password=None):
        user = ["--user", f"root:{password}"] if password else []
        return [os.path.join(self.programs(via.stage), "etcdctl"), "--endpoints", via.secure, "--cacert", via.stage.ca, *user, *arguments]

    def etcdctl(self, via, *arguments, **more):
        password = more.pop("password", None)
        return via.stage.run(*self.line(via, *arguments, password=password), environment={"ETCDCTL_API": "3"}, timeout=60, **more)

    @action("put, get and delete", needs="`protocol: h2c`")
    def put(self, via):
        self.etcdctl(via, "put", "/a//b", "1")
        check(self.etcdctl(via, "get", "/a//b", "--print-value-only").strip(), "1")
        check(self.etcdctl(via, "del", "/a//b").strip(), "1")

    @action("ask by JSON", plain=True, note="in a rule whose upstream has no `protocol`: over HTTP/2 etcd speaks gRPC alone")
    def json(self, via):
        status, _, body = via.ask("POST", "/v3/kv/range", json.dumps({"key": "L2E="}))
        check((status, "header" in json.loads(body)), (200, True))

    @action("keep a lease alive", needs="`protocol: h2c`")
    def lease(self, via):
        number = self.etcdctl(via, "lease", "grant", "5").split()[1]
        client = self.popen(via, "lease", "keep-alive", number)
        try:
            until(client, "keepalived")
            until(client, "keepalived")
        finally:
            end(client)

    @action("log in, and be refused", needs="`protocol: h2c`")
    def login(self, via):
        self.etcdctl(via, "user", "add", "root:secret")
        self.etcdctl(via, "user", "grant-role", "root", "root")
        self.etcdctl(via, "auth", "enable")
        try:
            self.etcdctl(via, "get", "/x", password="secret")
            said = self.etcdctl(via, "get", "/x", password="wrong", fails=True)
            check("authentication failed" in said, True, said)
            check("user name is empty" in self.etcdctl(via, "get", "/x", fails=True), True)
        finally:
            self.etcdctl(via, "auth", "disable", password="secret")

    @action("upload 100 MB in values of 1 MB, and download a snapshot", needs="`protocol: h2c`")
    def snapshot(self, via):
        for number in range(100):
            self.etcdctl(via, "put", f"/big/{number}", stdin="x" * 1_000_000)
        file = os.path.join(via.stage.directory, "snapshot")
        self.etcdctl(via, "snapshot", "save", file)
        if os.path.getsize(file) < 100_000_000:
            raise Wrong(f"the snapshot has {os.path.getsize(file)} bytes")

    @action("watch across a reload of the gateway, and across a restart of the server", needs="`protocol: h2c`")
    def restart(self, via):
        client = self.popen(via, "watch", "--prefix", "/watched")
        try:
            # The watch has no line for its begin, so something is put until it is seen.
            seen = []

            def put():
                self.etcdctl(via, "put", "/watched", str(len(seen)))
                seen.append(1)
                return True

            wait(lambda: put() and readable(client), 30, "nothing is watched")
            via.stage.reload()
            self.etcdctl(via, "put", "/watched", "after the reload")
            until(client, "after the reload")
            via.stage.kill()
            self.etcdctl(via, "--command-timeout=2s", "get", "/x", fails=True)
            via.stage.start()
            self.etcdctl(via, "put", "/watched", "after the restart")
            until(client, "after the restart")
        finally:
            end(client)

    def popen(self, via, *arguments):
        return via.stage.popen(*self.line(via, *arguments), environment={"ETCDCTL_API": "3"})


def readable(client):
    return bool(select.select([client.stdout], [], [], 0.5)[0])
