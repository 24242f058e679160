"""The server of gRPC's interop tests, with the interop client and grpcurl."""

import json
import os

from play import install
from play.stage import Application, action, check, end, until, until_newer, wait

NEEDS = "`protocol: h2c`"
CASES = (
    "empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong", "empty_stream", "timeout_on_sleeping_server",
    "cancel_after_begin", "cancel_after_first_response", "status_code_and_message", "special_status_message", "custom_metadata",
    "unimplemented_method", "unimplemented_service")
PIECE, PIECES = 4_000_000, 30


class Grpc(Application):
    name = "gRPC interop"
    how = "Go's server of gRPC's interop tests runs with reflection. The clients are the interop client and grpcurl, over TLS."
    upstream = "protocol: h2c"

    def version(self):
        return install.go_version("grpc", "google.golang.org/grpc")

    def install(self):
        install.go("grpc", {
            "interop-server": ".", "interop-client": "google.golang.org/grpc/interop/client",
            "grpcurl": "github.com/fullstorydev/grpcurl/cmd/grpcurl"})

    def command(self, stage):
        return [os.path.join(stage.cache, "grpc", "interop-server"), "-address", f"127.0.0.1:{stage.application_port}"]

    def grpcurl(self, via, *arguments):
        return [os.path.join(via.stage.cache, "grpc", "grpcurl"), "-cacert", via.stage.ca, *arguments]

    @action("14 interop tests", needs=NEEDS, note="with defaults, the gateway answers `upstream_protocol_error`")
    def interop(self, via):
        for case in CASES:
            via.stage.run(
                os.path.join(via.stage.cache, "grpc", "interop-client"), "-use_tls", "-use_test_ca", "-ca_file", via.stage.ca, "-server_host", "localhost", "-server_port", str(via.secure_port), "-test_case", case, timeout=30)

    @action("reflection, as grpcurl uses it", needs=NEEDS)
    def reflection(self, via):
        said = via.stage.run(*self.grpcurl(via, f"localhost:{via.secure_port}", "list"))
        check("grpc.testing.TestService" in said, True, said)
        said = via.stage.run(*self.grpcurl(via, f"localhost:{via.secure_port}", "describe", "grpc.testing.TestService"))
        check("rpc UnaryCall" in said, True, said)

    @action("download 120 MB in a stream of messages", needs=NEEDS)
    def large(self, via):
        request = {"response_parameters": [{"size": PIECE}] * PIECES}
        said = via.stage.run(*self.grpcurl(
            via, "-max-msg-sz", "5000000", "-d", json.dumps(request), f"localhost:{via.secure_port}",
            "grpc.testing.TestService/StreamingOutputCall"))
        check(said.count('"payload"'), PIECES)

    @action("upload 120 MB in a stream of messages", needs=NEEDS)
    def upload(self, via):
        message = json.dumps({"payload": {"body": "A" * (PIECE // 3 * 4)}})
        said = via.stage.run(
            *self.grpcurl(via, "-d", "@", f"localhost:{via.secure_port}", "grpc.testing.TestService/StreamingInputCall"),
            stdin=message * PIECES)
        check(json.loads(said), {"aggregatedPayloadSize": PIECE // 3 * 3 * PIECES})

    def stream(self, via):
        """Starts a stream that gets a message each tenth of a second for a minute."""
        request = {"response_parameters": [{"size": 1, "interval_us": 100_000}] * 600}
        return via.stage.popen(*self.grpcurl(
            via, "-d", json.dumps(request), f"localhost:{via.secure_port}", "grpc.testing.TestService/StreamingOutputCall"))

    @action("read a stream across a reload, and notice that the server was killed", needs=NEEDS, note="the client gets the status `INTERNAL`")
    def reload(self, via):
        client = self.stream(via)
        try:
            until(client, "payload")
            via.stage.reload()
            until_newer(client, "payload")
            via.stage.kill()
            until(client, "Code: Internal")
            wait(lambda: client.poll() is not None, 30, "the client does not end")
            check(client.returncode != 0, True)
        finally:
            end(client)

    @action("go on after its restart", needs=NEEDS)
    def restart(self, via):
        via.stage.start()
        self.reflection(via)
