package dev.gateway.net.dns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.memory.Account;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which names the hosts file answers for. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // fields that JUnit and each test set
class ResolverTest {
    private final Transport transport = Transport.start(TransportKind.NIO, 1);
    private final EventLoop loop = transport.loops().get(0);

    @TempDir
    Path directory;

    private Path file;
    private Resolver resolver;

    @BeforeEach
    void start() throws Exception {
        file = Files.writeString(
                directory.resolve("hosts"), "192.0.2.1 app.test\n192.0.2.2 app.test\n2001:db8::1 six.test\n");
        // Nobody is asked there: a query would fail.
        resolver = new Resolver(
                transport,
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1)),
                Duration.ofSeconds(30),
                new HostsFile(file));
    }

    @AfterEach
    void stop() throws Exception {
        resolver.close();
        transport.stop().sync();
    }

    private List<String> addresses(boolean exact, String name) throws Exception {
        Resolver.Answers answers = loop.submit(() ->
                        exact ? resolver.resolveExactly(loop, name, Account.UNLIMITED) : resolver.resolve(loop, name))
                .get();
        Future<List<InetAddress>> ipv4 = answers.ipv4();
        assertThat(ipv4.await(20, TimeUnit.SECONDS)).isTrue();
        return ipv4.isSuccess()
                ? ipv4.getNow().stream().map(InetAddress::getHostAddress).toList()
                : List.of("failed");
    }

    @Test
    void theHostsFileComesBeforeDns() throws Exception {
        for (boolean exact : List.of(true, false)) {
            assertThat(addresses(exact, "App.test")).containsExactly("192.0.2.1", "192.0.2.2");
            assertThat(addresses(exact, "six.test")).isEmpty();
            assertThat(addresses(exact, "other.test")).containsExactly("failed");
        }
    }

    @Test
    void aChangedHostsFileIsReadAndFollowersAreTold() throws Exception {
        CompletableFuture<Void> told = new CompletableFuture<>();
        resolver.follow(loop, "app.test", false, () -> told.complete(null));
        resolver.lookAtHosts();
        assertThat(addresses(false, "app.test")).hasSize(2);

        Files.writeString(file, "192.0.2.3 app.test\n");
        resolver.lookAtHosts(); // sees the change
        resolver.lookAtHosts(); // sees that it is complete
        assertThat(addresses(false, "app.test")).containsExactly("192.0.2.3");
        told.get(20, TimeUnit.SECONDS);
        assertThat(resolver.isFormer("app.test", false, InetAddress.getByName("192.0.2.1")))
                .isTrue();
        assertThat(resolver.isFormer("app.test", false, InetAddress.getByName("192.0.2.3")))
                .isFalse();
    }

    @Test
    void withoutAHostsFileDnsIsAsked() throws Exception {
        Files.delete(file);
        resolver.lookAtHosts();
        resolver.lookAtHosts();
        assertThat(addresses(false, "app.test")).containsExactly("failed");
    }
}
