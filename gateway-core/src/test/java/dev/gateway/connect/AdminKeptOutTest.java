package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.LoggedLines;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class AdminKeptOutTest {
    @TempDir
    Path directory;

    private final OwnListeners own =
            new OwnListeners(new LocalAddresses(() -> Set.of(address("192.0.2.7")), () -> 0, Runnable::run));
    private final AdminKeptOut policy = new AdminKeptOut(own);

    private static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1, 9901, true",
        "127.0.0.1, 0.0.0.0, 9901, true",
        "127.0.0.1, ::ffff:127.0.0.1, 9901, true",
        "127.0.0.1, 64:ff9b::7f00:1, 9901, true",
        "127.0.0.1, 127.0.0.1, 8080, false",
        "127.0.0.1, 127.0.0.2, 9901, false",
        "127.0.0.1, 192.0.2.7, 9901, false",
        "0.0.0.0, 192.0.2.7, 9901, true",
        "0.0.0.0, 127.0.0.9, 9901, true",
        "0.0.0.0, 192.0.2.8, 9901, false"
    })
    void noUpstreamLeadsToTheAdminListener(String bound, String dialed, int port, boolean refused) {
        InetSocketAddress admin = new InetSocketAddress(bound, 9901);
        own.set(List.of(admin, new InetSocketAddress("127.0.0.1", 8080)));
        assertThat(policy.refuse("app.example", address(dialed), port)).isNull();
        own.setAdmin(admin, null);
        assertThat(policy.refuse("app.example", address(dialed), port) != null).isEqualTo(refused);
    }

    @Test
    void itKnowsWhereTheGatewayItselfListens() {
        own.set(List.of(new InetSocketAddress("127.0.0.1", 8080)));
        own.setFiles(List.of(Path.of("/run/gateway/web.sock")));
        assertThat(policy.isOwn(address("127.0.0.1"), 8080)).isTrue();
        assertThat(policy.isOwn(address("127.0.0.1"), 8081)).isFalse();
        assertThat(policy.isOwn(address("192.0.2.7"), 8080)).isFalse();
        assertThat(policy.isOwn(Path.of("/run/gateway/../gateway/web.sock"))).isTrue();
        assertThat(policy.isOwn(Path.of("/run/gateway/app.sock"))).isFalse();
    }

    @Test
    void itsSocketFileIsNoEndpointEither() {
        own.setAdmin(null, Path.of("/run/gateway/admin.sock"));
        assertThat(policy.refuseFile(Path.of("/run/gateway/../gateway/admin.sock")))
                .contains("the admin listener of this gateway");
        assertThat(policy.refuseFile(Path.of("/run/gateway/app.sock"))).isNull();
    }

    /** Ways to the same file: each has another path, and all lead to who listens on it. */
    private List<Path> aliases(Path socket, String name) throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve(name + ".link"), socket.getFileName());
        Path linked = Files.createSymbolicLink(directory.resolve(name + ".dir"), directory);
        return List.of(
                link,
                Files.createSymbolicLink(directory.resolve(name + ".link2"), link),
                Files.createLink(directory.resolve(name + ".hard"), socket),
                linked.resolve(socket.getFileName()),
                Path.of("/proc/self/root" + socket));
    }

    private static ServerSocketChannel listenOn(Path file) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(file));
        return server;
    }

    @Test
    @SuppressWarnings("try") // that somebody listens is enough
    void aSocketIsKnownByEachOfItsPaths() throws IOException {
        Path admin = directory.resolve("admin.sock");
        Path web = directory.resolve("web.sock");
        Path app = directory.resolve("app.sock");
        try (var adminSocket = listenOn(admin);
                var webSocket = listenOn(web);
                var appSocket = listenOn(app)) {
            own.setAdmin(null, admin);
            own.setFiles(List.of(web));
            for (Path alias : aliases(admin, "admin")) {
                assertThat(policy.refuseFile(alias)).as("%s", alias).contains("the admin listener of this gateway");
                assertThat(policy.isOwn(alias)).as("%s", alias).isFalse();
            }
            for (Path alias : aliases(web, "web")) {
                assertThat(policy.isOwn(alias)).as("%s", alias).isTrue();
                assertThat(policy.refuseFile(alias)).as("%s", alias).isNull();
            }
            for (Path alias : aliases(app, "app")) {
                assertThat(policy.isOwn(alias)).as("%s", alias).isFalse();
                assertThat(policy.refuseFile(alias)).as("%s", alias).isNull();
            }
            // Another process takes the path over: what is left of the file still leads here.
            Files.delete(admin);
            assertThat(policy.refuseFile(directory.resolve("admin.hard"))).isNotNull();
            assertThat(policy.refuseFile(admin)).isNotNull();
        }
    }

    /** Each request to it is refused, so a line for each would be a flood. */
    @Test
    void theLogNamesEachSuchEndpointOnce() {
        try (LoggedLines log = LoggedLines.of(AdminKeptOut.class)) {
            own.setAdmin(new InetSocketAddress("127.0.0.1", 9901), Path.of("/run/gateway/admin.sock"));
            for (int i = 0; i < 3; i++) {
                policy.refuse("app.example", address("127.0.0.1"), 9901);
                policy.refuse("app.example", address("127.0.0.1"), 8080);
                policy.refuseFile(Path.of("/run/gateway/admin.sock"));
            }
            assertThat(log.messages())
                    .containsExactly(
                            "Endpoint app.example:9901 gets no requests: 127.0.0.1 is the admin listener of this "
                                    + "gateway, which is no endpoint",
                            "Endpoint unix:/run/gateway/admin.sock gets no requests: /run/gateway/admin.sock is the "
                                    + "admin listener of this gateway, which is no endpoint");
        }
    }
}
