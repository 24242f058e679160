package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gateway's own sockets are known by each of their paths: no client gets to the admin pages, and no request goes round. */
@Tag("platform")
@Timeout(60)
class SocketAliasIT {
    @TempDir
    private Path directory;

    private String yaml(String transport, String admin, String self) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: file, unix: %1$s/web.sock, protocol: HTTP}
                routes:
                  - name: pages
                    rules: [{matches: [{path: {value: /stats}}], backendRefs: [{name: admin}]}]
                  - name: back
                    rules: [{matches: [{path: {value: /loop}}], backendRefs: [{name: self}]}]
                upstreams:
                  - {name: admin, endpoints: [{unix: %3$s}]}
                  - name: self
                    endpoints: [{unix: %4$s}]
                    circuitBreaker: {maxConnections: 5}
                    timeouts: {poolAcquire: 1s}
                admin: {unix: %1$s/admin.sock}
                accessLog: {path: access.log}
                transport: %2$s
                workers: 1
                """
                .formatted(directory, transport, admin, self);
    }

    /** Returns where another path of a socket is to be. */
    private Path alias(String kind, Path socket) {
        return kind.equals("proc")
                ? Path.of("/proc/self/root" + socket)
                : socket.resolveSibling(kind + socket.getFileName());
    }

    private static void make(String kind, Path alias, Path socket) throws IOException {
        switch (kind) {
            case "symbolic" -> Files.createSymbolicLink(alias, socket);
            case "hard" -> Files.createLink(alias, socket);
            default -> assertThat(alias).exists();
        }
    }

    private static Head get(Rig rig, String path) throws IOException {
        try (Peer client = Peers.HTTP1.connect(rig.port())) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", path), true);
            Head answer = stream.receiveFinal();
            stream.receiveBody();
            return answer;
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll, symbolic", "epoll, hard", "epoll, proc", "nio, symbolic", "nio, hard", "nio, proc"})
    void anotherPathLeadsNoFurther(String transport, String kind) throws Exception {
        Path admin = directory.resolve("admin.sock");
        Path web = directory.resolve("web.sock");
        Path aliasOfAdmin = alias(kind, admin);
        Path aliasOfWeb = alias(kind, web);
        try (Rig rig = Rig.start(yaml(transport, aliasOfAdmin.toString(), aliasOfWeb.toString()))) {
            make(kind, aliasOfAdmin, admin);
            make(kind, aliasOfWeb, web);
            assertThat(get(rig, "/stats").status()).isEqualTo(502);
            assertThat(rig.awaitAccessLog(1)).anySatisfy(line -> assertThat(line)
                    .contains("\"cause\":\"connect_failed\"", "is the admin listener of this gateway"));
            assertThat(get(rig, "/loop").status()).isEqualTo(508);
            assertThat(rig.awaitAccessLog(3))
                    .anySatisfy(line -> assertThat(line).contains("\"cause\":\"loop_detected\""));
        }
    }
}
