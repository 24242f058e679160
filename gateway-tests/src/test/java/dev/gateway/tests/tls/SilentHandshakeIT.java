package dev.gateway.tests.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An upstream that takes connections and does not finish the handshake of TLS is one that cannot be connected to in time. */
@Tag("jar")
@Timeout(60)
class SilentHandshakeIT {
    enum Silence {
        /** Not a byte comes. */
        AT_ONCE,

        /** The header of a record comes, and four of the hundred bytes that it announces. */
        WITHIN_THE_FIRST_RECORD
    }

    /** Takes connections, reads what comes, and says at most the beginning of a ServerHello. */
    private static final class HalfServer implements AutoCloseable {
        private static final byte[] BEGINNING = {22, 3, 3, 0, 100, 2, 0, 0, 96};

        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final BlockingQueue<Integer> ended = new LinkedBlockingQueue<>();
        private final Silence silence;

        HalfServer(Silence silence) throws IOException {
            this.silence = silence;
            Thread thread = new Thread(this::accept, "half-server");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            int count = 0;
            try {
                while (true) {
                    try (Socket socket = server.accept()) {
                        count++;
                        socket.getInputStream().read();
                        if (silence == Silence.WITHIN_THE_FIRST_RECORD) {
                            socket.getOutputStream().write(BEGINNING);
                        }
                        while (socket.getInputStream().read() >= 0) {
                            // until the gateway gives it up
                        }
                    } catch (SocketException e) {
                        if (server.isClosed()) {
                            return;
                        }
                    }
                    ended.add(count);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        int port() {
            return server.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void theAnswerIs504AfterTheTimeOfTheHandshake(Silence silence) throws Exception {
        try (HalfServer server = new HalfServer(silence);
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                routes: [{rules: [{backendRefs: [{name: app}], timeouts: {request: 50s}}]}]
                                upstreams:
                                  - name: app
                                    endpoints: [{host: 127.0.0.1, port: %d}]
                                    tls: {verify: false}
                                    timeouts: {tlsHandshake: 500ms, poolAcquire: 50s, responseHeaders: 50s}
                                admin: {address: 127.0.0.1, port: 0}
                                accessLog: {format: json, path: access.log}
                                """
                                        .formatted(server.port()))
                        .start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            Head answer = stream.receiveFinal(); // which does not wait for 50 s
            assertThat(answer.status()).isEqualTo(504);
            assertThat(answer.get("proxy-status").orElseThrow()).contains("connect_timeout");
            stream.receiveBody();
            assertThat(server.ended.take()).as("connections given up").isEqualTo(1);
            assertThat(gateway.metric("gateway_upstream_connect_failures_total", "cause=\"connect_timeout\""))
                    .isPositive();
            assertThat(gateway.metric("gateway_upstream_connections_active")).isZero();
        }
    }
}
