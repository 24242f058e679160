"""NATS over WebSocket, with its client for Node."""

import os

from play import install
from play.rig import mirror
from play.stage import Application, action, check, end, until, wait

CONFIGURATION = """\
listen: "127.0.0.1:{more}"
max_payload: 4MB
jetstream {{ store_dir: "{directory}/store" }}
websocket {{ listen: "127.0.0.1:{port}", no_tls: true, compression: true }}
authorization {{ user: app, password: secret }}
"""


class Nats(Application):
    name = "NATS"
    how = "Debian's `nats-server` listens for WebSockets. The client is `nats.ws` in Node."

    def version(self):
        return install.debian_version("nats-server").split("-")[0]

    def install(self):
        install.debian("nats-server")
        install.npm()

    def prepare(self, stage):
        mirror.write(os.path.join(stage.directory, "nats.conf"), CONFIGURATION.format(
            port=stage.application_port, more=stage.more_ports[0], directory=stage.directory))

    def command(self, stage):
        return [os.path.join(stage.cache, "debian-nats-server", "usr", "sbin", "nats-server"), "-c", "nats.conf"]

    def client(self, via, what, password="secret"):
        return ("nats.cjs", via.secure.replace("http", "ws", 1), password, what)

    @action("log in, publish and subscribe")
    def login(self, via):
        check(via.stage.node(*self.client(via, "hello")).strip(), "hello")

    @action("refuse a wrong password")
    def refused(self, via):
        said = via.stage.node(*self.client(via, "hello", "wrong"), fails=True)
        check("AUTHORIZATION_VIOLATION" in said, True, said)

    @action("send and receive 150 MB")
    def large(self, via):
        check(via.stage.node(*self.client(via, "large")).strip(), "150 messages, 150000000 bytes")

    @action("keep messages in a stream (JetStream)")
    def stream(self, via):
        check(via.stage.node(*self.client(via, "stream")).strip(), "100 messages")

    @action("go on across a reload, notice that the server was killed, and reconnect")
    def restart(self, via):
        client = via.stage.popen_node(*self.client(via, "wait"))
        try:
            until(client, "subscribed")
            via.stage.reload()
            via.stage.node(*self.client(via, "publish"))
            until(client, "got 1")
            via.stage.kill()
            until(client, "disconnect")
            via.stage.start()
            until(client, "reconnect")
            via.stage.node(*self.client(via, "publish"))
            until(client, "got 2")
            wait(lambda: client.poll() is not None, 30, "the client does not end")
        finally:
            end(client)
