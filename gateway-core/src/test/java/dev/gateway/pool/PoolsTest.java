package dev.gateway.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.Resolver;
import dev.gateway.net.ServerTls;
import dev.gateway.net.ServerTlsSettings;
import dev.gateway.net.ServerTlsSettings.CertificateFiles;
import dev.gateway.net.ServerTlsSettings.ClientAuthentication;
import dev.gateway.net.Transport;
import dev.gateway.net.TransportKind;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Dialling;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.RoundRobin;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import dev.gateway.upstream.UpstreamSettings.Protocol;
import io.netty.channel.EventLoop;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // fields that JUnit and each test set
class PoolsTest {
    private static Transport transport;

    /** What a test adds to the clock of all timers. */
    private static final AtomicLong ahead = new AtomicLong();

    private static List<TimerWheel> wheels;
    private static X509Bundle ca;

    @TempDir
    Path directory;

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> open = new ArrayList<>();
    private Settings settings;
    private Pools pools;
    private Resolver resolver;
    private Upstream upstream;
    private FakeDns dns;

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
        resolver = new Resolver(transport, List.of(dns.address()));
        pools = new Pools(transport, resolver, wheels, (each, loop) -> new Recorder());
    }

    @AfterEach
    void nothingIsLeftBehind() throws Exception {
        if (upstream != null) {
            int connections = counted().idle() + counted().active(); // and what ran on the loops has ended
            assertThat(upstream.requests().taken()).isZero();
            assertThat(upstream.pendingRequests().taken()).isZero();
            assertThat(upstream.connections().taken()).isEqualTo(connections);
            pools.remove(upstream);
            for (int i = 0; i < connections; i++) {
                awaitEvent("closed");
            }
            assertThat(upstream.connections().taken()).isZero();
        }
        for (AutoCloseable each : open) {
            each.close();
        }
        resolver.close();
        dns.close();
    }

    // HTTP/1.1

    @Test
    void aConnectionIsUsedAgain() throws Exception {
        to(http1());

        assertThat(get("/").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
        assertThat(counted()).isEqualTo(new PoolCounts(1, 0, 0, 0));
    }

    @Test
    void theConnectionUsedLastIsUsedNext() throws Exception {
        Origin origin = http1();
        to(origin);
        List<Reply> replies = List.of(get("/hold"), get("/hold"), get("/hold"));
        List<Runnable> answers = List.of(heldBy(origin), heldBy(origin), heldBy(origin));
        assertThat(counted().active()).isEqualTo(3);

        answers.get(2).run();
        answers.get(0).run();
        answers.get(1).run();
        // The answers leave the origin in this order, but come on different sockets.
        List<Integer> served = new ArrayList<>();
        for (Reply reply : replies) {
            served.add(reply.connection());
        }
        assertThat(served).containsExactlyInAnyOrder(1, 2, 3);
        int last = get("/hold", origin);
        for (int i = 0; i < 5; i++) {
            assertThat(get("/").connection()).isEqualTo(last);
        }
    }

    private int get(String path, Origin origin) throws Exception {
        Reply reply = get(path);
        heldBy(origin).run();
        return reply.connection();
    }

    @Test
    void aConnectionThatTheUpstreamClosedWhileIdleIsNotUsed() throws Exception {
        Origin origin = http1();
        to(origin);
        get("/").connection();

        origin.connections.get(0).close().sync();
        awaitEvent("closed");
        assertThat(counted()).isEqualTo(PoolCounts.NONE);
        assertThat(get("/").connection()).isEqualTo(2);
    }

    @Test
    void anIdleConnectionIsClosedInTime() throws Exception {
        settings.idleMillis = 60_000;
        to(http1());
        get("/").connection();
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(30));
        assertThat(get("/").connection()).isEqualTo(1); // its time begins anew
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(59));
        assertThat(counted().idle()).isEqualTo(1);

        ahead.addAndGet(TimeUnit.SECONDS.toNanos(2));
        awaitEvent("idle closed");
        awaitEvent("closed");
        assertThat(get("/").connection()).isEqualTo(2);
    }

    @Test
    void theUpstreamsKeepAliveHintIsHonouredAndASecondToSpare() throws Exception {
        to(http1());
        assertThat(get("/keep-5").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(4100));
        awaitEvent("closed");
        assertThat(get("/keep-1").connection()).isEqualTo(2);
        awaitEvent("closed"); // at once
    }

    @Test
    void anOldConnectionIsReplaced() throws Exception {
        settings.maxLifetimeMillis = 600_000;
        to(http1());
        get("/").connection();
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(539)); // up to a tenth earlier
        assertThat(get("/").connection()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(61));
        awaitEvent("closed");
        assertThat(get("/").connection()).isEqualTo(2);
    }

    @Test
    void aConnectionIsNotClosedForItsAgeWhileInUse() throws Exception {
        settings.maxLifetimeMillis = 1000;
        Origin origin = http1();
        to(origin);
        Reply reply = get("/hold");
        Runnable answer = heldBy(origin);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(2));
        answer.run();
        assertThat(reply.connection()).isEqualTo(1);
        awaitEvent("closed");
        assertThat(get("/").connection()).isEqualTo(2);
    }

    // Limits

    @Test
    void aRequestWaitsForAConnectionWhenThereMayBeNoMore() throws Exception {
        settings.maxConnections = 1;
        Origin origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        Reply second = get("/");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 0, 1));
        assertThat(second.isDone()).isFalse();

        answer.run();
        assertThat(first.connection()).isEqualTo(1);
        assertThat(second.connection()).isEqualTo(1);
    }

    @Test
    void aConnectionThatRequestsHadToWaitForIsKept() throws Exception {
        settings.maxConnections = 1;
        Origin origin = http1();
        to(origin);
        for (int i = 0; i < 3; i++) {
            Reply first = get("/hold");
            Runnable answer = heldBy(origin);
            Reply second = get("/");
            Reply third = get("/");
            counted(); // both wait
            third.cancel();
            answer.run();
            assertThat(first.connection()).isEqualTo(1);
            assertThat(second.connection()).isEqualTo(1);
            assertThat(counted()).isEqualTo(new PoolCounts(1, 0, 0, 0));
        }
    }

    @Test
    void aRequestIsRefusedWhenTooManyWait() throws Exception {
        settings.maxConnections = 1;
        settings.maxPendingRequests = 1;
        Origin origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        Reply second = get("/");

        assertFailure(get("/").failure(), Cause.PENDING_OVERFLOW);
        answer.run();
        first.connection();
        assertThat(second.connection()).isEqualTo(1);
    }

    @Test
    void aRequestDoesNotWaitForEver() throws Exception {
        settings.maxConnections = 1;
        settings.poolAcquireMillis = 50;
        Origin origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);

        assertFailure(get("/").failure(), Cause.PENDING_TIMEOUT);
        answer.run();
        first.connection();
    }

    @Test
    void requestsInFlightAreLimited() throws Exception {
        settings.maxRequests = 1;
        Origin origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);

        assertFailure(get("/").failure(), Cause.PENDING_OVERFLOW);
        answer.run();
        first.connection();
        get("/").connection();
    }

    @Test
    void aConnectionThatAnotherEventLoopDoesNotUseIsGivenUp() throws Exception {
        settings.maxConnections = 1;
        to(http1());
        assertThat(get(0, "/").connection()).isEqualTo(1);
        assertThat(get(1, "/").connection()).isEqualTo(2);
        awaitEvent("closed");
        assertThat(get(0, "/").connection()).isEqualTo(3);
        awaitEvent("closed");
    }

    @Test
    void anotherEventLoopGetsTheConnectionAsSoonAsItIsFree() throws Exception {
        settings.maxConnections = 1;
        Origin origin = http1();
        to(origin);
        Reply first = get(0, "/hold");
        Runnable answer = heldBy(origin);
        Reply second = get(1, "/");
        assertThat(counted().pending()).isEqualTo(1);

        answer.run();
        assertThat(first.connection()).isEqualTo(1);
        assertThat(second.connection()).isEqualTo(2);
        awaitEvent("closed");
    }

    @Test
    void aBusyEventLoopDoesNotKeepAnotherWaitingForEver() throws Exception {
        settings.maxConnections = 1;
        Origin origin = http1();
        to(origin);
        List<Reply> busy = new ArrayList<>();
        busy.add(get(0, "/hold"));
        Runnable answer = heldBy(origin);
        for (int i = 0; i < 4; i++) {
            busy.add(get(0, "/hold"));
        }
        Reply other = get(1, "/");
        assertThat(counted().pending()).isEqualTo(5);

        answer.run();
        heldBy(origin).run();
        other.connection(); // while others still wait that were before it
        assertThat(busy.get(4).isDone()).isFalse();
        for (int i = 0; i < 3; i++) {
            heldBy(origin).run();
        }
        for (Reply reply : busy) {
            reply.connection();
        }
        counted();
        while (events.remove("closed")) {}
    }

    @Test
    void manyRequestsOnBothEventLoopsShareFewConnections() throws Exception {
        settings.maxConnections = 3;
        to(http1());
        List<Reply> replies = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            replies.add(get(i % 2, "/"));
        }
        for (Reply reply : replies) {
            reply.connection();
        }
        assertThat(upstream.connections().taken()).isBetween(1, 3);
        // Connections changed hands meanwhile; what has closed must be told before the end is judged.
        while (events.remove("closed")) {}
    }

    @Test
    void aRequestGivenUpLeavesItsConnectionToTheNext() throws Exception {
        settings.tls = tls(true, "localhost", null);
        Origin origin = https(certificate("localhost"), ClientAuthentication.NONE, List.of("http/1.1"));
        to(origin);
        EventLoop loop = transport.loops().get(0);
        Reply first = Reply.getAndCancel(
                pools.opener(0), loop, upstream, upstream.endpoints().get(0), "/");
        awaitEvent("opened HTTP_1_1");
        assertThat(counted()).isEqualTo(new PoolCounts(1, 0, 0, 0));
        assertThat(first.isDone()).isFalse();
        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void aRequestGivenUpWhileItWaitsMakesRoom() throws Exception {
        settings.maxConnections = 1;
        settings.maxPendingRequests = 1;
        Origin origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        Reply second = get("/");
        second.cancel();
        Reply third = get("/");

        answer.run();
        first.connection();
        assertThat(third.connection()).isEqualTo(1);
        assertThat(second.isDone()).isFalse();
    }

    // Failures

    @Test
    void aRefusedConnectionIsTold() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        to("127.0.0.1", port);

        assertFailure(get("/").failure(), Cause.CONNECT_FAILED);
        assertThat(get("/").failure().detail()).contains("127.0.0.1:" + port).contains("refused");
    }

    @Test
    void aConnectionThatTakesTooLongIsTold() throws Exception {
        settings.connectMillis = 100;
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < 4; i++) { // more than the kernel keeps for one who does not accept
                SocketChannel filler = SocketChannel.open();
                open.add(filler);
                filler.configureBlocking(false);
                filler.connect(full.getLocalSocketAddress());
            }
            to("127.0.0.1", full.getLocalPort());
            assertFailure(get("/").failure(), Cause.CONNECT_TIMEOUT);
        }
    }

    @Test
    void aNameThatDoesNotExistIsTold() throws Exception {
        to("nowhere.test", 80);

        assertFailure(get("/").failure(), Cause.DNS_FAILED);
        assertThat(get("/").failure().detail()).contains("nowhere.test");
    }

    @Test
    void theNextAddressIsTriedWhenOneFails() throws Exception {
        Origin origin = http1();
        dns.answers("origin.test", "127.0.0.77", "127.0.0.1");
        to("origin.test", origin.port());
        settings.idleMillis = 1;

        for (int i = 0; i < 4; i++) { // whichever is the first
            get("/").connection();
        }
    }

    @Test
    void allRequestsThatWaitAreToldWhenNothingCanBeReached() throws Exception {
        settings.maxConnections = 1;
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        dns.answers("origin.test", "127.0.0.1");
        to("origin.test", port);
        for (Reply reply : List.of(get("/"), get("/"), get("/"))) {
            assertFailure(reply.failure(), Cause.CONNECT_FAILED);
        }
    }

    // TLS

    @Test
    void anUnknownAuthorityIsNotTrusted() throws Exception {
        settings.tls = new UpstreamSettings.Tls(true, null, null, null, null, List.of());
        to(
                "localhost",
                https(certificate("localhost"), ClientAuthentication.NONE, List.of("h2", "http/1.1"))
                        .port());

        assertFailure(get("/").failure(), Cause.TLS_FAILED);
        assertThat(get("/").failure().detail()).contains("certification path");
    }

    @Test
    void aCertificateOfAnotherHostIsNotTrusted() throws Exception {
        settings.tls = tls(true, null, null);
        to(
                "localhost",
                https(certificate("other.test"), ClientAuthentication.NONE, List.of("h2", "http/1.1"))
                        .port());

        assertFailure(get("/").failure(), Cause.TLS_FAILED);
        assertThat(get("/").failure().detail()).contains("localhost");
    }

    @Test
    void verificationCanBeTurnedOff() throws Exception {
        settings.tls = tls(false, null, null);
        to(
                "localhost",
                https(certificate("other.test"), ClientAuthentication.NONE, List.of("h2", "http/1.1"))
                        .port());

        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void anotherNameCanBeAskedForAndVerified() throws Exception {
        settings.tls = tls(true, "other.test", null);
        to(https(certificate("other.test"), ClientAuthentication.NONE, List.of("h2", "http/1.1")));

        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void http2IsSpokenWhereItIsOffered() throws Exception {
        settings.tls = tls(true, "localhost", null);
        to(https(certificate("localhost"), ClientAuthentication.NONE, List.of("h2", "http/1.1")));
        List<Reply> replies = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            replies.add(get("/"));
        }
        for (Reply reply : replies) {
            assertThat(reply.connection()).isEqualTo(1);
        }
        assertThat(events).contains("opened HTTP_2");
    }

    @Test
    void http1IsSpokenWhereHttp2IsNotOffered() throws Exception {
        settings.tls = tls(true, "localhost", null);
        for (List<String> offered : List.of(List.of("http/1.1"), List.<String>of())) {
            Origin origin = https(certificate("localhost"), ClientAuthentication.NONE, offered);
            if (upstream != null) {
                pools.remove(upstream);
                awaitEvent("closed");
                awaitEvent("closed");
            }
            to(origin);
            List<Reply> replies = List.of(get("/hold"), get("/hold"));
            List<Runnable> answers = List.of(heldBy(origin), heldBy(origin));
            answers.forEach(Runnable::run);
            assertThat(List.of(replies.get(0).connection(), replies.get(1).connection()))
                    .containsExactlyInAnyOrder(1, 2);
        }
    }

    @Test
    void anUpstreamThatMustSpeakHttp2AndDoesNotIsTold() throws Exception {
        settings.tls = tls(true, "localhost", null);
        settings.protocol = Protocol.H2;
        to(https(certificate("localhost"), ClientAuthentication.NONE, List.of("http/1.1")));

        assertFailure(get("/").failure(), Cause.TLS_FAILED);
    }

    @Test
    void aClientCertificateIsShown() throws Exception {
        CertificateFiles identity = certificate("gateway");
        settings.tls = tls(true, "localhost", identity);
        to(https(certificate("localhost"), ClientAuthentication.REQUIRED, List.of("h2", "http/1.1")));

        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void anUpstreamThatMissesAClientCertificateIsTold() throws Exception {
        settings.tls = tls(true, "localhost", null);
        to(https(certificate("localhost"), ClientAuthentication.REQUIRED, List.of("h2", "http/1.1")));

        Failure failure = get("/").failure(); // TLS 1.3 tells it after the handshake, at the first read
        assertThat(failure.cause()).isIn(Cause.TLS_FAILED, Cause.CONNECT_FAILED);
        assertThat(failure.retry()).isEqualTo(RetrySafety.ALWAYS);
    }

    // HTTP/2

    @Test
    void requestsShareOneConnectionAlsoWhileItIsBeingMade() throws Exception {
        settings.protocol = Protocol.H2C;
        to(http2(100));
        List<Reply> replies = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            replies.add(get("/"));
        }
        for (Reply reply : replies) {
            assertThat(reply.connection()).isEqualTo(1);
        }
        assertThat(counted()).isEqualTo(new PoolCounts(1, 0, 0, 0));
    }

    @Test
    void anotherConnectionIsMadeOnlyWhenOneIsFull() throws Exception {
        settings.protocol = Protocol.H2C;
        Origin origin = http2(2);
        to(origin);
        List<Reply> replies = List.of(get("/hold"), get("/hold"), get("/hold"));
        List<Runnable> answers = List.of(heldBy(origin), heldBy(origin), heldBy(origin));
        assertThat(counted().active()).isEqualTo(2);
        answers.forEach(Runnable::run);
        List<Integer> served = new ArrayList<>();
        for (Reply reply : replies) {
            served.add(reply.connection());
        }
        assertThat(served).containsExactlyInAnyOrder(1, 1, 2);
    }

    @Test
    void aRequestWaitsForAStreamWhenThereMayBeNoMoreConnections() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.maxConnections = 1;
        Origin origin = http2(1);
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        Reply second = get("/");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 0, 1));

        answer.run();
        assertThat(first.connection()).isEqualTo(1);
        assertThat(second.connection()).isEqualTo(1);
    }

    @Test
    void anIdleHttp2ConnectionIsClosedInTime() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.idleMillis = 60_000;
        to(http2(100));
        get("/").connection();
        assertThat(counted().idle()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(61));
        awaitEvent("closed");
        assertThat(get("/").connection()).isEqualTo(2);
    }

    @Test
    void anUpstreamThatDoesNotSpeakHttp2IsTold() throws Exception {
        settings.protocol = Protocol.H2C;
        to(http1());

        assertThat(get("/").failure().cause()).isEqualTo(Cause.CONNECT_FAILED);
    }

    // The rest

    @Test
    void aUnixDomainSocketCanBeAnEndpoint() throws Exception {
        Path socket = directory.resolve("origin.sock");
        Origin origin = new Origin(transport, transport.unixAddress(socket), false, 0, null);
        open.add(origin);
        to("unix:" + socket, 0);

        assertThat(get("/").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void aRetiredUpstreamKeepsNoConnection() throws Exception {
        Origin origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);
        get("/").connection();

        pools.retire(upstream);
        awaitEvent("closed"); // the idle one
        answer.run();
        assertThat(first.connection()).isEqualTo(1);
        awaitEvent("closed");
        assertThat(get("/").connection()).isEqualTo(3);
        awaitEvent("closed");
    }

    @Test
    void aRemovedUpstreamFailsWhatWaits() throws Exception {
        settings.maxConnections = 1;
        Origin origin = http1();
        to(origin);
        Reply first = get("/hold");
        heldBy(origin);
        Reply second = get("/");
        pools.remove(upstream);

        assertThat(first.failure().cause()).isEqualTo(Cause.DRAIN);
        assertThat(second.failure().cause()).isEqualTo(Cause.DRAIN);
        assertThat(get("/").failure().cause()).isEqualTo(Cause.DRAIN);
        awaitEvent("closed");
    }

    private static void assertFailure(Failure failure, Cause cause) {
        assertThat(failure.cause()).as(failure.detail()).isEqualTo(cause);
        assertThat(failure.retry()).isEqualTo(RetrySafety.ALWAYS);
        assertThat(failure.detail()).doesNotContain("\n");
    }

    // Fixture

    private static final class Settings {
        Protocol protocol = Protocol.AUTO;
        UpstreamSettings.@Nullable Tls tls;
        int maxConnections;
        int maxPendingRequests;
        int maxRequests;
        long connectMillis = 10_000;
        long poolAcquireMillis = 10_000;
        long idleMillis;
        long maxLifetimeMillis;
    }

    private Origin http1() throws InterruptedException {
        return origin(false, 0, null);
    }

    private Origin http2(int maxStreams) throws InterruptedException {
        return origin(true, maxStreams, null);
    }

    private Origin https(CertificateFiles certificate, ClientAuthentication auth, List<String> alpn) throws Exception {
        return origin(
                false,
                100,
                new ServerTls(new ServerTlsSettings(
                        List.of(certificate), alpn, List.of(), List.of(), auth, caFile(), true, 10_000)));
    }

    private Origin origin(boolean http2, int maxStreams, @Nullable ServerTls tls) throws InterruptedException {
        Origin origin = new Origin(
                transport, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), http2, maxStreams, tls);
        open.add(origin);
        return origin;
    }

    private void to(Origin origin) throws Exception {
        to("127.0.0.1", origin.port());
    }

    private void to(String host, int port) throws Exception {
        List<Endpoint> endpoints = List.of(new Endpoint(0, host, port, 1));
        upstream = new Upstream(
                "app",
                endpoints,
                new RoundRobin(endpoints),
                new UpstreamSettings(
                        settings.protocol,
                        settings.tls,
                        settings.maxConnections,
                        settings.maxPendingRequests,
                        settings.maxRequests,
                        settings.connectMillis,
                        10_000,
                        settings.poolAcquireMillis,
                        0,
                        settings.idleMillis,
                        settings.maxLifetimeMillis,
                        Dialling.DIRECT));
        pools.add(upstream);
    }

    private UpstreamSettings.Tls tls(boolean verify, @Nullable String name, @Nullable CertificateFiles identity)
            throws Exception {
        return new UpstreamSettings.Tls(
                verify,
                caFile(),
                name,
                identity == null ? null : identity.certFile(),
                identity == null ? null : identity.keyFile(),
                List.of());
    }

    private Path caFile() throws Exception {
        return Files.writeString(directory.resolve("ca.pem"), ca.getCertificatePEM());
    }

    private CertificateFiles certificate(String name) throws Exception {
        X509Bundle bundle = new CertificateBuilder()
                .ecp256()
                .subject("CN=" + name)
                .addSanDnsName(name)
                .buildIssuedBy(ca);
        return new CertificateFiles(
                Files.writeString(directory.resolve(name + ".crt"), bundle.getCertificatePathPEM()),
                Files.writeString(directory.resolve(name + ".key"), bundle.getPrivateKeyPEM()));
    }

    private Reply get(String path) {
        return get(0, path);
    }

    private Reply get(int loop, String path) {
        EventLoop eventLoop = transport.loops().get(loop);
        return Reply.get(
                pools.opener(loop), eventLoop, upstream, upstream.endpoints().get(0), path);
    }

    private static Runnable heldBy(Origin origin) throws InterruptedException {
        return Objects.requireNonNull(origin.held.poll(10, TimeUnit.SECONDS), "no request came");
    }

    private PoolCounts counted() throws Exception {
        return pools.counts(upstream).get(10, TimeUnit.SECONDS);
    }

    private void awaitEvent(String wanted) throws InterruptedException {
        String event;
        do {
            event = Objects.requireNonNull(events.poll(10, TimeUnit.SECONDS), "nothing more happened");
        } while (!event.equals(wanted));
    }

    private final class Recorder implements UpstreamObserver {
        @Override
        public void onOpened(HttpVersion version, boolean tls) {
            events.add("opened " + version);
        }

        @Override
        public void onClosed(HttpVersion version, boolean tls) {
            events.add("closed");
        }

        @Override
        public void onIdleClosed() {
            events.add("idle closed");
        }
    }
}
