package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.listener.TlsConfig.ClientAuth;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.upstream.UpstreamConfig.TlsOffer;
import dev.gateway.config.value.Position;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.net.tls.TlsValues;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.DialSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.channel.EventLoop;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Pools on two event loops, with one upstream at a time, whose clock a test can move. */
@SuppressWarnings("NullAway.Init") // fields that JUnit and each test set
abstract class PoolFixture {
    static Transport transport;

    /** What a test adds to the clock of all timers. */
    static final AtomicLong ahead = new AtomicLong();

    static List<TimerWheel> wheels;
    static X509Bundle ca;

    @TempDir
    Path directory;

    final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    final BlockingQueue<CloseCause> causes = new LinkedBlockingQueue<>();
    final List<AutoCloseable> open = new ArrayList<>();

    /** The direct memory of connections that is charged, for each event loop. */
    final List<LoopBudget> direct = List.of(budget(), budget());

    Settings settings;
    Pools pools;
    Resolver resolver;
    Upstream upstream;
    FakeDns dns;

    private static LoopBudget budget() {
        return new LoopBudget(new MemoryBudget(1 << 20, 1));
    }

    @BeforeAll
    static void start() throws Exception {
        transport = Transport.start(TransportKind.EPOLL, 2);
        wheels = transport.loops().stream()
                .map(loop -> new TimerWheel(loop, () -> System.nanoTime() + ahead.get()))
                .toList();
        ca = new CertificateBuilder()
                .subject("CN=Test CA")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    @AfterAll
    static void stop() throws Exception {
        transport.stop().sync();
    }

    @BeforeEach
    void makePools() throws Exception {
        settings = new Settings();
        dns = new FakeDns();
        resolver = new Resolver(transport, List.of(dns.address()), Duration.ofMinutes(1));
        pools = new Pools(
                transport,
                resolver,
                wheels,
                loop -> new Account(new LoopBudget(new MemoryBudget(1 << 20, 1)), direct.get(loop)),
                (each, loop) -> new Recorder());
    }

    @AfterEach
    void nothingIsLeftBehind() throws Exception {
        if (upstream != null) {
            int connections = connections(); // and what ran on the loops has ended
            assertThat(upstream.requests().taken()).isZero();
            assertThat(upstream.pendingRequests().taken()).isZero();
            while (upstream.connections().taken() < connections) { // the test has closed its end of one meanwhile
                connections = connections();
            }
            assertThat(upstream.connections().taken()).isEqualTo(connections);
            pools.remove(upstream);
            while (upstream.connections().taken() > 0) {
                awaitEvent("closed"); // maybe of a connection that the test itself had closed
            }
        }
        for (AutoCloseable each : open) {
            each.close();
        }
        resolver.close();
        dns.close();
    }

    static void assertFailure(Failure failure, Cause cause) {
        assertThat(failure.cause()).as(failure.detail()).isEqualTo(cause);
        boolean waited = cause == Cause.PENDING_OVERFLOW || cause == Cause.PENDING_TIMEOUT;
        assertThat(failure.retry()).isEqualTo(waited ? RetrySafety.NEVER : RetrySafety.ALWAYS);
        assertThat(failure.detail()).doesNotContain("\n");
    }

    static final class Settings {
        Protocol protocol = Protocol.AUTO;

        @Nullable
        Tls tls;

        int maxConnections;
        int maxPendingRequests;
        int maxRequests;
        long connectMillis = 10_000;
        long poolAcquireMillis = 10_000;
        long idleMillis;
        long maxLifetimeMillis;
    }

    FakeUpstream http1() throws InterruptedException {
        return origin(false, 0, null);
    }

    FakeUpstream http2(int maxStreams) throws InterruptedException {
        return origin(true, maxStreams, null);
    }

    FakeUpstream https(CertificateRef certificate, ClientAuth auth, List<String> alpn) throws Exception {
        return origin(
                false,
                100,
                new ServerTls(TlsValues.server(
                        List.of(certificate), TlsValues.spoken(alpn), TlsValues.clients(auth, caFile()), 10_000)));
    }

    FakeUpstream origin(boolean http2, int maxStreams, @Nullable ServerTls tls) throws InterruptedException {
        FakeUpstream origin = new FakeUpstream(
                transport, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), http2, maxStreams, tls);
        open.add(origin);
        return origin;
    }

    /** Returns a port that refuses connections; nobody else gets it before the test is over. */
    int closedPort() throws Exception {
        Socket holder = new Socket();
        open.add(holder);
        holder.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return holder.getLocalPort();
    }

    /** Returns a port whose queue of connections is full, so that the kernel drops each SYN. */
    int blackHole() throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        open.add(server);
        while (true) {
            Socket socket = new Socket();
            open.add(socket);
            try {
                socket.connect(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()), 500);
            } catch (SocketTimeoutException e) {
                return server.getLocalPort();
            }
        }
    }

    void to(FakeUpstream origin) throws Exception {
        to("127.0.0.1", origin.port());
    }

    void to(String host, int port) throws Exception {
        List<Endpoint> endpoints = List.of(new Endpoint(0, host, port, 1));
        upstreamOf(endpoints, RoundRobin::new, DialSettings.DIRECT);
    }

    void upstreamOf(List<Endpoint> endpoints, Balancer.Policy balancing, DialSettings dialSettings) throws Exception {
        upstreamOf(new Health(endpoints, balancing, null, null, System::nanoTime), dialSettings);
    }

    void upstreamOf(Health health) throws Exception {
        upstreamOf(health, DialSettings.DIRECT);
    }

    private void upstreamOf(Health health, DialSettings dialSettings) throws Exception {
        upstream = new Upstream(
                "app",
                health,
                UpstreamValues.builder()
                        .protocol(settings.protocol)
                        .tls(settings.tls)
                        .maxConnections(settings.maxConnections)
                        .maxPendingRequests(settings.maxPendingRequests)
                        .maxRequests(settings.maxRequests)
                        .connectMillis(settings.connectMillis)
                        .tlsHandshakeMillis(10_000)
                        .poolAcquireMillis(settings.poolAcquireMillis)
                        .idleMillis(settings.idleMillis)
                        .maxLifetimeMillis(settings.maxLifetimeMillis)
                        .dialSettings(dialSettings)
                        .build());
        pools.add(upstream);
    }

    Tls tls(boolean verify, @Nullable String name, @Nullable CertificateRef identity) throws Exception {
        return new Tls(
                Position.NOWHERE,
                verify,
                caFile(),
                name,
                identity == null ? null : identity.certFile(),
                identity == null ? null : identity.keyFile(),
                TlsOffer.DEFAULT);
    }

    Path caFile() throws Exception {
        return Files.writeString(directory.resolve("ca.pem"), ca.getCertificatePEM());
    }

    CertificateRef certificate(String name, String... others) throws Exception {
        CertificateBuilder builder =
                new CertificateBuilder().ecp256().subject("CN=" + name).addSanDnsName(name);
        for (String other : others) {
            builder.addSanDnsName(other);
        }
        X509Bundle bundle = builder.buildIssuedBy(ca);
        return new CertificateRef(
                Position.NOWHERE,
                Files.writeString(directory.resolve(name + ".crt"), bundle.getCertificatePathPEM()),
                Files.writeString(directory.resolve(name + ".key"), bundle.getPrivateKeyPEM()));
    }

    Reply get(String path) {
        return get(0, path);
    }

    /** Asks for a stream that could carry an upgrade, and sends an ordinary request on it. */
    Reply getAsUpgrade(String path) {
        return get(path, StreamKind.UPGRADE);
    }

    /** Asks as a check does. */
    Reply check(String path) {
        return get(path, StreamKind.CHECK);
    }

    private Reply get(String path, StreamKind kind) {
        return Reply.get(
                pools.opener(0),
                transport.loops().get(0),
                upstream,
                upstream.endpoints().get(0),
                path,
                kind);
    }

    /** Asks with a host that TLS asks for, too. */
    Reply getFor(int loop, String name, String path) {
        return Reply.getFor(pools.opener(loop), transport.loops().get(loop), upstream, name, path);
    }

    /** Asks an endpoint that the request names. */
    Reply getFrom(Endpoint endpoint, String path) {
        return Reply.get(pools.opener(0), transport.loops().get(0), upstream, endpoint, path);
    }

    Reply get(int loop, String path) {
        EventLoop eventLoop = transport.loops().get(loop);
        return Reply.get(
                pools.opener(loop), eventLoop, upstream, upstream.endpoints().get(0), path);
    }

    static Runnable heldBy(FakeUpstream origin) throws InterruptedException {
        return Objects.requireNonNull(origin.held.poll(10, TimeUnit.SECONDS), "no request came");
    }

    PoolCounts counted() throws Exception {
        return pools.counts(upstream).get(10, TimeUnit.SECONDS);
    }

    /** Counts established connections by one answer of the pools: between two, a connection may become idle. */
    int connections() throws Exception {
        PoolCounts counts = counted();
        return counts.idle() + counts.active();
    }

    void awaitEvent(String wanted) throws InterruptedException {
        String event;
        do {
            event = Objects.requireNonNull(events.poll(10, TimeUnit.SECONDS), "nothing more happened");
        } while (!event.equals(wanted));
    }

    void awaitEvents(String... wanted) throws InterruptedException {
        for (String each : wanted) {
            awaitEvent(each);
        }
    }

    String awaitAny() throws InterruptedException {
        return Objects.requireNonNull(events.poll(10, TimeUnit.SECONDS), "nothing more happened");
    }

    private final class Recorder implements UpstreamObserver {
        @Override
        public void onOpened(HttpVersion version, boolean tls) {
            events.add("opened " + version);
        }

        @Override
        public void onClosed(HttpVersion version, boolean tls, CloseCause cause) {
            causes.add(cause);
            if (cause == CloseCause.IDLE_TIMEOUT) {
                events.add("idle closed");
            }
            events.add("closed");
        }
    }
}
