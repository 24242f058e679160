package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.support.GatewayJar;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A socket file is removed only if nobody listens on it for certain. */
@Tag("jar")
@Timeout(60)
class SocketFileIT {
    @TempDir
    static Path directory;

    private static GatewayJar at(Path file) throws IOException {
        return GatewayJar.of(
                        """
                        listeners: [{name: web, unix: %s, protocol: HTTP}]
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {statusCode: 204}}]}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(file))
                .start();
    }

    /** Connecting fails otherwise than by a refusal, as it does where it is not permitted. */
    @Test
    void aFileThatSomebodyMayListenOnIsLeftAlone() throws Exception {
        Path file = directory.resolve("taken.sock");
        io.netty.channel.epoll.Epoll.ensureAvailability(); // loads what Socket needs
        Socket other = Socket.newSocketDomainDgram();
        try {
            other.bind(new DomainSocketAddress(file.toString()));
            assertThatThrownBy(() -> at(file).close()).hasMessageContaining("cannot find out whether");
            assertThat(file).exists();
        } finally {
            other.close();
        }
    }

    @Test
    void aFileThatNobodyListensOnIsReplaced() throws Exception {
        Path file = directory.resolve("stale.sock");
        try (var server = java.nio.channels.ServerSocketChannel.open(java.net.StandardProtocolFamily.UNIX)) {
            server.bind(java.net.UnixDomainSocketAddress.of(file));
        }
        assertThat(Files.exists(file)).isTrue();
        try (GatewayJar gateway = at(file)) {
            assertThat(gateway.isAlive()).isTrue();
        }
    }
}
