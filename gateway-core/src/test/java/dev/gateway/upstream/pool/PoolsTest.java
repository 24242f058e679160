package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.listener.TlsConfig.CertificateRef;
import dev.gateway.config.listener.TlsConfig.ClientAuth;
import dev.gateway.config.listener.TlsConfig.Protocols;
import dev.gateway.config.listener.TlsConfig.Version;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.upstream.UpstreamConfig.TlsOffer;
import dev.gateway.config.value.Position;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.net.tls.TlsValues;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.DialSettings;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PoolsTest extends PoolFixture {
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
        FakeUpstream origin = http1();
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

    private int get(String path, FakeUpstream origin) throws Exception {
        Reply reply = get(path);
        heldBy(origin).run();
        return reply.connection();
    }

    @Test
    void aConnectionThatTheUpstreamClosedWhileIdleIsNotUsed() throws Exception {
        FakeUpstream origin = http1();
        to(origin);
        get("/").connection();

        origin.connections.get(0).close().sync();
        awaitEvent("closed");
        assertThat(counted()).isEqualTo(PoolCounts.NONE);
        assertThat(get("/").connection()).isEqualTo(2);
    }

    @Test
    void whatWasIdleForLongerThanALostConnectionIsNotUsed() throws Exception {
        FakeUpstream origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answerFirst = heldBy(origin);
        Reply second = get("/hold");
        Runnable answerSecond = heldBy(origin);
        Reply third = get("/hold");
        Runnable answerThird = heldBy(origin);
        answerFirst.run();
        first.connection();
        answerSecond.run();
        int lost = second.connection();
        Reply stale = get("/hold"); // on the second, which was used last
        heldBy(origin);
        answerThird.run();
        int later = third.connection();
        assertThat(counted()).isEqualTo(new PoolCounts(2, 1, 0, 0));
        origin.connections.get(lost - 1).close();
        assertThat(stale.failure().stale()).isTrue();
        awaitEvents("closed", "closed"); // the lost one, and the one that was idle for longer
        assertThat(counted()).isEqualTo(new PoolCounts(1, 0, 0, 0));
        assertThat(get("/").connection()).isEqualTo(later);
    }

    @Test
    void aConnectionThatNobodyHadUsedYetCanBeStale() throws Exception {
        FakeUpstream origin = http1();
        to(origin);
        Reply.getAndCancel(
                pools.opener(0),
                transport.loops().get(0),
                upstream,
                upstream.endpoints().get(0),
                "/");
        while (counted().idle() == 0) {
            Thread.onSpinWait(); // until the connection is there that nobody waits for any more
        }
        Reply stale = get("/hold");
        heldBy(origin);
        origin.connections.get(0).close();
        assertThat(stale.failure().stale()).isTrue();
    }

    @Test
    void aConnectionThatNobodyHadUsedYetIsKeptAsLongAsTheUpstreamSaysOnOthers() throws Exception {
        settings.idleMillis = 60_000;
        FakeUpstream origin = http1();
        to(origin);
        get("/keep-5").connection();
        Reply held = get("/hold");
        Runnable answer = heldBy(origin);
        Reply.getAndCancel(
                pools.opener(0),
                transport.loops().get(0),
                upstream,
                upstream.endpoints().get(0),
                "/");
        while (counted().idle() == 0) {
            Thread.onSpinWait(); // until the connection is there that nobody waits for any more
        }
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(5));
        awaitEvents("idle closed", "closed");
        answer.run();
        held.connection();
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
    void theUpstreamsKeepAliveHintIsHonoredAndASecondToSpare() throws Exception {
        to(http1());
        assertThat(get("/keep-5").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(4100));
        awaitEvent("closed");
        assertThat(get("/keep-1").connection()).isEqualTo(2);
        awaitEvent("closed"); // after half of that
    }

    @Test
    void aHintIsForgottenWhenANewConnectionServesWithoutOne() throws Exception {
        to(http1());
        assertThat(get("/keep-5").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
        assertThat(Objects.requireNonNull(idleTimeout()).isSaid())
                .as("it holds for the connection")
                .isTrue();
        ahead.addAndGet(TimeUnit.MILLISECONDS.toNanos(4100));
        awaitEvent("closed");
        assertThat(get("/").connection()).isEqualTo(2);
        assertThat(idleTimeout()).isNull();
    }

    @Test
    void onlyTheFirstResponseOfAConnectionTellsOthersOfAHint() throws Exception {
        to(http1());
        assertThat(get("/keep-5").connection()).isEqualTo(1);
        assertThat(get("/keep-9").connection()).isEqualTo(1);
        assertThat(Objects.requireNonNull(idleTimeout()).millis()).isEqualTo(5_000);
    }

    @Test
    void whatAnEndpointClosesAfterTheSameTimeAgainAndAgainIsClosedBefore() throws Exception {
        FakeUpstream origin = http1();
        to(origin);
        for (int i = 0; i < 3; i++) {
            assertThat(get("/").connection()).isEqualTo(i + 1);
            assertThat(idleTimeout()).isNull();
            ahead.addAndGet(TimeUnit.SECONDS.toNanos(60));
            origin.connections.get(i).close().sync();
            awaitEvent("closed");
        }
        LoopView.IdleTimeout learned = Objects.requireNonNull(idleTimeout());
        assertThat(learned.millis()).isBetween(60_000L, 66_000L);
        assertThat(learned.isSaid()).isFalse();
        assertThat(learned.keptMillis()).isEqualTo(learned.millis() - 1000);
        assertThat(get(1, "/").connection()).isEqualTo(4); // another loop knows it as well
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(50));
        assertThat(counted().idle()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(16));
        awaitEvents("idle closed", "closed");

        Upstream before = upstream;
        settings.idleMillis = 30_000;
        to(origin); // as a reload does
        LoopView.IdleTimeout kept = Objects.requireNonNull(idleTimeout());
        assertThat(kept.millis()).isEqualTo(learned.millis());
        assertThat(kept.keptMillis()).isEqualTo(30_000);
        pools.remove(before);
    }

    private LoopView.@Nullable IdleTimeout idleTimeout() throws Exception {
        LoopView view = pools.view(upstream).get(0).get(10, TimeUnit.SECONDS);
        return view.endpoints().get(0).idleTimeout();
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
        FakeUpstream origin = http1();
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
        FakeUpstream origin = http1();
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
        FakeUpstream origin = http1();
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
        FakeUpstream origin = http1();
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
        FakeUpstream origin = http1();
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
        FakeUpstream origin = http1();
        to(origin);
        Reply first = get("/hold");
        Runnable answer = heldBy(origin);

        assertFailure(get("/").failure(), Cause.PENDING_OVERFLOW);
        answer.run();
        first.connection();
        get("/").connection();
    }

    @Test
    void aRequestThatEndsMakesRoomForOneThatWaitsElsewhere() throws Exception {
        settings.protocol = Protocol.H2C;
        settings.maxConnections = 2;
        settings.maxRequests = 4;
        FakeUpstream narrow = http2(1);
        FakeUpstream wide = http2(100);
        Endpoint first = new Endpoint(0, "127.0.0.1", narrow.port(), 1);
        Endpoint other = new Endpoint(1, "127.0.0.1", wide.port(), 1);
        upstreamOf(List.of(first, other), RoundRobin::new, DialSettings.DIRECT);
        List<Reply> held = List.of(getFrom(first, "/hold"), getFrom(other, "/hold"), getFrom(other, "/hold"));
        List<Runnable> answers = List.of(heldBy(narrow), heldBy(wide), heldBy(wide));

        Reply waiting = getFrom(other, "/"); // half of what may be in flight is there already
        assertThat(counted().pending()).isEqualTo(1);
        answers.get(1).run();
        waiting.connection();
        assertThat(waiting.movedTo).isEqualTo(other);
        answers.get(0).run();
        answers.get(2).run();
        for (Reply each : held) {
            each.connection();
        }
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
        FakeUpstream origin = http1();
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
        FakeUpstream origin = http1();
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
        FakeUpstream origin = http1();
        to(origin);
        List<Reply> replies = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            replies.add(get(i % 2, "/hold"));
        }
        // As long as none is answered, no connection closes: all that were dialed are there.
        List<Runnable> first = List.of(heldBy(origin), heldBy(origin), heldBy(origin));
        assertThat(counted()).isEqualTo(new PoolCounts(0, 3, 0, 197));
        assertThat(origin.connections).hasSize(3);
        assertThat(origin.held).isEmpty();
        first.forEach(Runnable::run);
        for (int i = 3; i < 200; i++) {
            Runnable answer = heldBy(origin);
            assertThat(origin.held).as("others that came at the same time").hasSizeLessThan(3);
            answer.run();
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
        FakeUpstream origin = https(certificate("localhost"), ClientAuth.NONE, List.of("http/1.1"));
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
        FakeUpstream origin = http1();
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
        int port = closedPort();
        to("127.0.0.1", port);

        assertFailure(get("/").failure(), Cause.CONNECT_FAILED);
        assertThat(get("/").failure().detail()).contains("127.0.0.1:" + port).contains("refused");
    }

    @Test
    void aConnectionThatTakesTooLongIsTold() throws Exception {
        settings.connectMillis = 100;
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            fill(full);
            to("127.0.0.1", full.getLocalPort());
            assertFailure(get("/").failure(), Cause.CONNECT_TIMEOUT);
        }
    }

    /** Makes more connections than the kernel keeps for one who does not accept, so that it drops each further SYN. */
    private void fill(ServerSocket server) throws Exception {
        for (int i = 0; i < 4; i++) {
            SocketChannel filler = SocketChannel.open();
            open.add(filler);
            filler.configureBlocking(false);
            filler.connect(server.getLocalSocketAddress());
        }
    }

    @Test
    void whoGetsItsPermitInTimeWaitsForItsConnection() throws Exception {
        settings.maxConnections = 2;
        settings.connectMillis = 400;
        settings.poolAcquireMillis = 600;
        Reply first;
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            to("127.0.0.1", full.getLocalPort());
            first = get("/");
            assertThat(awaitAny()).startsWith("opened");
            fill(full);
            Reply second = get("/");
            Reply third = get("/"); // gets the permit of the second, which has given up by then
            assertFailure(second.failure(), Cause.CONNECT_TIMEOUT);
            assertFailure(third.failure(), Cause.CONNECT_TIMEOUT);
        }
        first.failure(); // with the socket that had it in its queue
    }

    @Test
    void aNameThatDoesNotExistIsTold() throws Exception {
        to("nowhere.test", 80);

        assertFailure(get("/").failure(), Cause.DNS_FAILED);
        assertThat(get("/").failure().detail()).contains("nowhere.test");
    }

    /** Whichever of them is the first: nobody listens at the other. */
    @ParameterizedTest
    @CsvSource({"127.0.0.77, 127.0.0.1", "127.0.0.1, 127.0.0.77"})
    void theNextAddressIsTriedWhenOneFails(String first, String second) throws Exception {
        settings.idleMillis = 60_000;
        FakeUpstream origin = http1();
        dns.answers("origin.test", first, second);
        to("origin.test", origin.port());

        for (int i = 1; i <= 4; i++) {
            assertThat(get("/").connection()).as("dialed anew").isEqualTo(i);
            ahead.addAndGet(TimeUnit.SECONDS.toNanos(61));
            awaitEvents("idle closed", "closed");
        }
    }

    @Test
    void aNameOfTheSettingsIsInDoubtWithItsAddress() throws Exception {
        FakeUpstream origin = http1();
        dns.answers("origin.test", "127.0.0.1");
        to("origin.test", origin.port());
        assertThat(get("/").connection()).isEqualTo(1);
        EventLoop loop = transport.loops().get(0);
        CompletableFuture<Void> renewed = new CompletableFuture<>();
        Runnable end = resolver.follow(loop, "origin.test", false, () -> renewed.complete(null));
        resolver.doubt(loop, InetAddress.getByName("127.0.0.1"));
        renewed.get(20, TimeUnit.SECONDS);
        end.run();
    }

    @Test
    void dnsIsAskedAgainWhenTheEndpointHasClosedItsKeptConnections() throws Exception {
        FakeUpstream origin = http1();
        dns.answers("origin.test", "127.0.0.1");
        to("origin.test", origin.port());
        assertThat(get("/").connection()).isEqualTo(1);
        CompletableFuture<Void> renewed = new CompletableFuture<>();
        Runnable end = resolver.follow(transport.loops().get(1), "origin.test", false, () -> renewed.complete(null));
        origin.close();
        renewed.get(20, TimeUnit.SECONDS);
        end.run();
    }

    @Test
    void allRequestsThatWaitAreToldWhenNothingCanBeReached() throws Exception {
        settings.maxConnections = 1;
        dns.answers("origin.test", "127.0.0.1");
        to("origin.test", closedPort());
        for (Reply reply : List.of(get("/"), get("/"), get("/"))) {
            assertFailure(reply.failure(), Cause.CONNECT_FAILED);
        }
    }

    // TLS

    @Test
    void anUnknownAuthorityIsNotTrusted() throws Exception {
        settings.tls = Tls.verified(Position.NOWHERE, null);
        to(
                "localhost",
                https(certificate("localhost"), ClientAuth.NONE, List.of("h2", "http/1.1"))
                        .port());

        assertFailure(get("/").failure(), Cause.TLS_FAILED);
        assertThat(get("/").failure().detail()).contains("certification path");
    }

    @Test
    void aCertificateOfAnotherHostIsNotTrusted() throws Exception {
        settings.tls = tls(true, null, null);
        to(
                "localhost",
                https(certificate("other.test"), ClientAuth.NONE, List.of("h2", "http/1.1"))
                        .port());

        assertFailure(get("/").failure(), Cause.TLS_FAILED);
        assertThat(get("/").failure().detail()).contains("localhost");
    }

    @Test
    void verificationCanBeTurnedOff() throws Exception {
        settings.tls = tls(false, null, null);
        to(
                "localhost",
                https(certificate("other.test"), ClientAuth.NONE, List.of("h2", "http/1.1"))
                        .port());

        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void anotherNameCanBeAskedForAndVerified() throws Exception {
        settings.tls = tls(true, "other.test", null);
        to(https(certificate("other.test"), ClientAuth.NONE, List.of("h2", "http/1.1")));

        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void http2IsSpokenWhereItIsOffered() throws Exception {
        settings.tls = tls(true, "localhost", null);
        to(https(certificate("localhost"), ClientAuth.NONE, List.of("h2", "http/1.1")));
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
            FakeUpstream origin = https(certificate("localhost"), ClientAuth.NONE, offered);
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
        to(https(certificate("localhost"), ClientAuth.NONE, List.of("http/1.1")));

        assertFailure(get("/").failure(), Cause.TLS_FAILED);
    }

    @Test
    void aClientCertificateIsShown() throws Exception {
        CertificateRef identity = certificate("gateway");
        settings.tls = tls(true, "localhost", identity);
        to(https(certificate("localhost"), ClientAuth.REQUIRED, List.of("h2", "http/1.1")));

        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void anUpstreamThatMissesAClientCertificateIsTold() throws Exception {
        settings.tls = tls(true, "localhost", null);
        to(https(certificate("localhost"), ClientAuth.REQUIRED, List.of("h2", "http/1.1")));

        Failure failure = get("/").failure(); // TLS 1.3 tells it after the handshake, at the first read
        assertThat(failure.cause()).isIn(Cause.TLS_FAILED, Cause.CONNECT_FAILED);
        assertThat(failure.retry()).isEqualTo(RetrySafety.ALWAYS);
    }

    /** One connection has heard of it; a request that finds another one, also of another loop, is not refused likewise. */
    @Test
    void anEndpointThatRequiresHttp1GetsNoHttp2FromAnyLoop() throws Exception {
        settings.tls = tls(true, "localhost", null);
        settings.protocol = Protocol.AUTO;
        to(https(certificate("localhost"), ClientAuth.NONE, List.of("h2", "http/1.1")));
        assertThat(get(0, "/").connection()).isEqualTo(1);
        assertThat(get(1, "/").connection()).isEqualTo(2);
        assertThat(get(0, "/http1").failure().retry()).isEqualTo(RetrySafety.ALWAYS);
        assertThat(get(0, "/http1").connection()).isEqualTo(3);
        assertThat(get(1, "/http1").connection()).isEqualTo(4);
    }

    // Old servers

    @Test
    void anUpstreamWithOldSuitesOnlyIsNotSpokenToByDefault() throws Exception {
        settings.tls = tls(true, "localhost", null);
        to(speaking(Version.TLS_1_2, "ECDHE-ECDSA-AES128-SHA"));
        assertFailure(get("/").failure(), Cause.TLS_FAILED);
    }

    @Test
    void anUpstreamWithOldSuitesOnlyNeedsThemNamed() throws Exception {
        String old = "ECDHE-ECDSA-AES128-SHA";
        settings.tls = speaks(Version.TLS_1_2, Version.TLS_1_3, List.of(old));
        to(speaking(Version.TLS_1_2, old));
        assertThat(get("/").connection()).isEqualTo(1);
    }

    /** Its suites are those that newer versions do not offer by default. */
    @Test
    void tls11IsSpokenIfAllowed() throws Exception {
        settings.tls = speaks(Version.TLS_1_1, Version.TLS_1_1, List.of());
        to(speaking(Version.TLS_1_1, "ECDHE-ECDSA-AES128-SHA"));
        assertThat(get("/").connection()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"DHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-SHA384", "NO-SUCH-SUITE"})
    void aSuiteThatTheLibraryLacksIsAMistake(String suite) throws Exception {
        settings.tls = speaks(Version.TLS_1_2, Version.TLS_1_2, List.of(suite));
        assertThatThrownBy(() -> to(http1())).hasMessageContaining("no cipher suite " + suite);
    }

    private Tls speaks(Version oldest, Version newest, List<String> ciphers) throws Exception {
        TlsOffer offer = new TlsOffer(oldest, newest, ciphers);
        return new Tls(Position.NOWHERE, true, caFile(), "localhost", null, null, offer);
    }

    private FakeUpstream speaking(Version oldest, String cipher) throws Exception {
        return origin(
                false,
                100,
                new ServerTls(TlsValues.server(
                        List.of(certificate("localhost")),
                        new Protocols(List.of("http/1.1"), oldest, Version.TLS_1_2, List.of(cipher)),
                        TlsValues.clients(ClientAuth.NONE, null),
                        10_000)));
    }

    // Names of requests

    @Test
    void requestsOfDifferentHostsShareNoConnection() throws Exception {
        toNamed(names());
        assertThat(getFor(0, "a.names.test", "/").connection()).isEqualTo(1);
        assertThat(getFor(0, "b.names.test", "/").connection()).isEqualTo(2);
        assertThat(getFor(0, "a.names.test", "/").connection()).isEqualTo(1);
        assertThat(getFor(0, "b.names.test", "/").connection()).isEqualTo(2);
    }

    /** A client chooses the name, and must not get an endpoint ejected by it, nor have others asked. */
    @Test
    void aHandshakeThatFailsForAHostIsThatRequestsFailure() throws Exception {
        toNamed("a.names.test");
        for (int i = 0; i < 10; i++) {
            Failure failure = getFor(0, "b.names.test", "/").failure();
            assertThat(failure.cause()).isEqualTo(Cause.TLS_FAILED);
            assertThat(failure.retry()).isEqualTo(RetrySafety.NEVER);
            assertThat(failure.detail()).contains("server name b.names.test");
        }
        assertThat(upstream.hosts().get(0).isUnreached()).isFalse();
        assertThat(upstream.hosts().get(0).isChosen()).isTrue();
        assertThat(getFor(0, "127.0.0.1", "/").failure().cause()).isEqualTo(Cause.TLS_FAILED);
        assertThat(getFor(0, "a.names.test", "/").isServed()).isTrue();
    }

    @Test
    void idleConnectionsOfOtherHostsGiveWay() throws Exception {
        toNamed(names());
        for (int i = 0; i < ServerNames.MOST + 20; i++) {
            assertThat(getFor(0, "a" + i + ".names.test", "/").isServed()).isTrue();
        }
        for (int i = 0; i < 20; i++) {
            awaitEvent("closed");
        }
        assertThat(connections()).isEqualTo(ServerNames.MOST);
    }

    @Test
    void thereIsNoRoomForMoreHostsThanThatAtATime() throws Exception {
        FakeUpstream origin = toNamed(names());
        List<Reply> held = new ArrayList<>();
        for (int i = 0; i < ServerNames.MOST; i++) {
            held.add(getFor(0, "a" + i + ".names.test", "/hold"));
        }
        List<Runnable> answers = new ArrayList<>();
        for (int i = 0; i < ServerNames.MOST; i++) {
            answers.add(heldBy(origin));
        }
        Failure failure = getFor(0, "b.names.test", "/").failure();
        assertThat(failure.cause()).isEqualTo(Cause.PENDING_OVERFLOW);
        assertThat(failure.retry()).isEqualTo(RetrySafety.NEVER);
        Reply known = getFor(0, "a7.names.test", "/");
        assertThat(known.isServed()).as("a host that has connections").isTrue();
        answers.forEach(Runnable::run);
        for (Reply reply : held) {
            reply.connection();
        }
        assertThat(getFor(0, "b.names.test", "/").isServed()).isTrue();
    }

    /** A name that nothing uses on one event loop gives way to a name of another loop. */
    @Test
    void idleConnectionsOfAnotherLoopGiveWay() throws Exception {
        toNamed(names());
        for (int i = 0; i < ServerNames.MOST; i++) {
            assertThat(getFor(0, "a" + i + ".names.test", "/").isServed()).isTrue();
        }
        assertThat(getFor(1, "b.names.test", "/").isServed()).isTrue();
    }

    /** A wait for a name ends with its upstream: the name that another loop gives up comes too late. */
    @Test
    void whoWaitsForANameIsToldOfTheEndOfTheUpstream() throws Exception {
        toNamed(names());
        for (int i = 0; i < ServerNames.MOST; i++) {
            assertThat(getFor(0, "a" + i + ".names.test", "/").isServed()).isTrue();
        }
        CountDownLatch removed = new CountDownLatch(1);
        Future<Void> held = hold(0, removed);
        Reply waiting;
        try {
            waiting = getFor(1, "b.names.test", "/");
            transport.loops().get(1).submit(() -> {}).get(); // it has asked the other loop
            pools.remove(upstream);
            transport.loops().get(1).submit(() -> {}).get(); // the pools of this loop are closed
            assertThat(waiting.isDone()).isFalse();
        } finally {
            removed.countDown();
        }
        held.get();
        assertFailure(waiting.failure(), Cause.DRAIN);
    }

    /** One that is cancelled while it waits for a name gets no answer, and takes none. */
    @Test
    void whoGivesUpWaitingForANameTakesNone() throws Exception {
        toNamed(names());
        for (int i = 0; i < ServerNames.MOST; i++) {
            assertThat(getFor(0, "a" + i + ".names.test", "/").isServed()).isTrue();
        }
        CountDownLatch cancelled = new CountDownLatch(1);
        Future<Void> held = hold(0, cancelled);
        Reply waiting;
        try {
            waiting = getFor(1, "b.names.test", "/");
            waiting.cancel();
        } finally {
            cancelled.countDown();
        }
        held.get();
        transport.loops().get(0).submit(() -> {}).get(); // it has given up a name
        transport.loops().get(1).submit(() -> {}).get(); // and said so
        assertThat(waiting.isDone()).isFalse();
        assertThat(getFor(1, "c.names.test", "/").failure().cause())
                .as("the name is free, and the certificate does not have it")
                .isEqualTo(Cause.TLS_FAILED);
    }

    /** Keeps an event loop busy. */
    private static Future<Void> hold(int loop, CountDownLatch until) {
        return transport.loops().get(loop).submit(() -> {
            until.await();
            return null;
        });
    }

    /** Returns more names than may be used at a time. */
    private static String[] names() {
        return Stream.concat(
                        Stream.of("a", "b"),
                        IntStream.range(0, ServerNames.MOST + 20).mapToObj(i -> "a" + i))
                .map(label -> label + ".names.test")
                .toArray(String[]::new);
    }

    private FakeUpstream toNamed(String... names) throws Exception {
        settings.tls = tls(true, Tls.OF_REQUEST, null);
        FakeUpstream origin = https(certificate("names.test", names), ClientAuth.NONE, List.of("http/1.1"));
        to(origin);
        return origin;
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
        FakeUpstream origin = http2(2);
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
        FakeUpstream origin = http2(1);
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

        assertThat(get("/").failure().cause()).isEqualTo(Cause.UPSTREAM_PROTOCOL_ERROR);
    }

    // Upgrades

    @Test
    void anUpgradeTakesAConnectionOfHttp1() throws Exception {
        to(http1());
        assertThat(get("/").connection()).isEqualTo(1);
        assertThat(getAsUpgrade("/").connection()).isEqualTo(1);
    }

    @Test
    void anUpgradeTakesAStreamOfHttp2WhereThatAllowsIt() throws Exception {
        settings.protocol = Protocol.H2C;
        FakeUpstream origin = http2(100);
        origin.extendedConnect = true;
        to(origin);
        assertThat(getAsUpgrade("/").connection()).isEqualTo(1);
        assertThat(getAsUpgrade("/").connection()).isEqualTo(1);
    }

    @Test
    void anUpgradeThatHttp2DoesNotAllowFails() throws Exception {
        settings.protocol = Protocol.H2C;
        to(http2(100));
        Failure first = getAsUpgrade("/").failure(); // before it is known
        assertThat(first.cause()).isEqualTo(Cause.UPSTREAM_PROTOCOL_ERROR);
        assertThat(first.retry()).isEqualTo(RetrySafety.NEVER);
        assertThat(getAsUpgrade("/").failure().cause()).isEqualTo(Cause.UPSTREAM_PROTOCOL_ERROR);
        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void anUpgradeThatHttp2DoesNotAllowGoesByHttp1WhereThatIsOffered() throws Exception {
        settings.tls = tls(true, "localhost", null);
        to(https(certificate("localhost"), ClientAuth.NONE, List.of("h2", "http/1.1")));
        assertThat(getAsUpgrade("/").connection()).isEqualTo(2); // 1 spoke h2
        assertThat(get("/").connection()).isEqualTo(1);
        assertThat(getAsUpgrade("/").connection()).isEqualTo(2);
        assertThat(counted()).isEqualTo(new PoolCounts(2, 0, 0, 0));
        awaitEvents("opened HTTP_2", "opened HTTP_1_1");
    }

    /** A connection of HTTP/2 is there, so that the upgrade waits for one of HTTP/1.1 beside it. */
    @Test
    void anUpgradeThatIsSlowToConnectGoesToAnotherEndpoint() throws Exception {
        settings.tls = tls(true, "localhost", null);
        CertificateRef certificate = certificate("localhost");
        FakeUpstream slow = https(certificate, ClientAuth.NONE, List.of("h2", "http/1.1"));
        FakeUpstream other = https(certificate, ClientAuth.NONE, List.of("h2", "http/1.1"));
        upstreamOf(
                List.of(new Endpoint(0, "127.0.0.1", slow.port(), 1), new Endpoint(1, "127.0.0.1", other.port(), 1)),
                RoundRobin::new,
                DialSettings.DIRECT);
        Endpoint first = upstream.endpoints().get(0);
        assertThat(get("/").connection()).isEqualTo(1);
        slow.deaf = true;
        Reply upgrade = getAsUpgrade("/");
        assertThat(counted().connecting()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(4)); // less than connecting may take
        upgrade.connection();
        assertThat(upgrade.movedTo).isEqualTo(upstream.endpoints().get(1));
        assertThat(upstream.host(first).isUnreached()).isTrue();
        assertThat(upstream.host(first).requests().taken()).isZero();
        slow.connections.forEach(Channel::close);
        while (counted().connecting() > 0) {
            Thread.onSpinWait(); // until it has failed
        }
    }

    @Test
    void anUpgradeGoesByHttp2WhereThatIsOfferedAndAllowsIt() throws Exception {
        settings.tls = tls(true, "localhost", null);
        FakeUpstream origin = https(certificate("localhost"), ClientAuth.NONE, List.of("h2", "http/1.1"));
        origin.extendedConnect = true;
        to(origin);
        assertThat(getAsUpgrade("/").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
    }

    // Endpoints that requests name

    @Test
    void aNamedEndpointsConnectionIsKept() throws Exception {
        FakeUpstream origin = http1();
        dns.answers("origin.test", "127.0.0.1");
        dns.answers("other.test", "127.0.0.1");
        upstreamOf(List.of(), NamedByRequest.POLICY, DialSettings.DIRECT);
        assertThat(getFrom(named("origin.test", origin), "/").connection()).isEqualTo(1);
        assertThat(getFrom(named("origin.test", origin), "/").connection()).isEqualTo(1);
        assertThat(getFrom(named("other.test", origin), "/").connection()).isEqualTo(2);
        assertThat(counted()).isEqualTo(new PoolCounts(2, 0, 0, 0));
    }

    @Test
    void aNamedEndpointIsForgottenWithItsLastConnection() throws Exception {
        settings.idleMillis = 1000;
        FakeUpstream origin = http1();
        upstreamOf(List.of(), NamedByRequest.POLICY, DialSettings.DIRECT);
        assertThat(getFrom(named("127.0.0.1", origin), "/").connection()).isEqualTo(1);
        assertThat(namedEndpoints()).isEqualTo(1);
        ahead.addAndGet(TimeUnit.SECONDS.toNanos(2));
        awaitEvents("idle closed", "closed");
        assertThat(counted()).isEqualTo(PoolCounts.NONE);
        assertThat(namedEndpoints()).isZero();
        assertFailure(
                getFrom(new Endpoint(Endpoint.NAMED_INDEX, "nowhere.test", 80, 1), "/")
                        .failure(),
                Cause.DNS_FAILED);
        assertThat(namedEndpoints()).isZero();
    }

    /** Clients may name any number of endpoints, so nothing may go on there when they have left. */
    @Test
    void aConnectionToANamedEndpointIsGivenUpWhenNobodyWaitsForIt() throws Exception {
        upstreamOf(List.of(), NamedByRequest.POLICY, DialSettings.DIRECT);
        Endpoint silent = new Endpoint(Endpoint.NAMED_INDEX, "127.0.0.1", blackHole(), 1);
        Reply first = getFrom(silent, "/");
        Reply second = getFrom(silent, "/");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 0, 2, 2));
        first.cancel();
        assertThat(counted()).as("one still waits").isEqualTo(new PoolCounts(0, 0, 1, 1));
        second.cancel();
        assertThat(counted()).isEqualTo(PoolCounts.NONE);
        assertThat(upstream.connections().taken()).isZero();
        assertThat(namedEndpoints()).isZero();
    }

    @Test
    void aConnectionToANamedEndpointIsMadeAlsoIfAnotherServesTheRequest() throws Exception {
        settings.tls = tls(true, null, null);
        FakeUpstream origin = https(certificate("origin.test"), ClientAuth.NONE, List.of("http/1.1"));
        dns.answers("origin.test", "127.0.0.1");
        upstreamOf(List.of(), NamedByRequest.POLICY, DialSettings.DIRECT);
        Endpoint named = named("origin.test", origin);
        Reply first = getFrom(named, "/hold");
        Runnable answer = heldBy(origin);
        origin.deaf = true;
        Reply second = getFrom(named, "/hold");
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 1, 1));
        answer.run();
        first.connection();
        answer = heldBy(origin);
        assertThat(counted()).isEqualTo(new PoolCounts(0, 1, 1, 0));
        Reply third = getFrom(named, "/");
        assertThat(counted()).as("no further one is made").isEqualTo(new PoolCounts(0, 1, 1, 1));
        third.cancel();
        assertThat(counted()).as("given up").isEqualTo(new PoolCounts(0, 1, 0, 0));
        answer.run();
        assertThat(second.connection()).isEqualTo(1);
    }

    @Test
    void onlySoManyNamedEndpointsAreKept() throws Exception {
        FakeUpstream origin = anywhere();
        upstreamOf(List.of(), NamedByRequest.POLICY, DialSettings.DIRECT);
        for (int i = 0; i < LoopUpstream.MAX_NAMED; i++) {
            getFrom(named("127.0.1." + i, origin), "/").connection();
        }
        getFrom(named("127.0.1.0", origin), "/").connection(); // so that it is not the eldest
        Reply held = getFrom(named("127.0.1.2", origin), "/hold"); // nor is this, in use
        Runnable answer = heldBy(origin);
        assertThat(counted()).isEqualTo(new PoolCounts(LoopUpstream.MAX_NAMED - 1, 1, 0, 0));
        getFrom(named("127.0.2.1", origin), "/").connection();
        awaitEvents("closed"); // 127.0.1.1
        assertThat(getFrom(named("127.0.1.0", origin), "/").connection()).isEqualTo(1);
        answer.run();
        assertThat(held.connection()).isEqualTo(3);
        assertThat(counted()).isEqualTo(new PoolCounts(LoopUpstream.MAX_NAMED, 0, 0, 0));
    }

    @Test
    void aNamedEndpointMadeRoomForInUseKeepsWhatRuns() throws Exception {
        FakeUpstream origin = anywhere();
        upstreamOf(List.of(), NamedByRequest.POLICY, DialSettings.DIRECT);
        Reply held = getFrom(named("127.0.1.255", origin), "/hold");
        Runnable answer = heldBy(origin);
        for (int i = 0; i < LoopUpstream.MAX_NAMED; i++) {
            getFrom(named("127.0.2." + i, origin), "/").connection();
        }
        answer.run();
        assertThat(held.connection()).isEqualTo(1);
        awaitEvents("closed");
        assertThat(counted()).isEqualTo(new PoolCounts(LoopUpstream.MAX_NAMED, 0, 0, 0));
    }

    private int namedEndpoints() throws Exception {
        LoopPools loop = (LoopPools) pools.opener(0);
        return transport
                .loops()
                .get(0)
                .submit(() -> loop.namedEndpoints(upstream))
                .get();
    }

    private FakeUpstream anywhere() throws InterruptedException {
        FakeUpstream origin = new FakeUpstream(transport, new InetSocketAddress(0), false, 0, null);
        open.add(origin);
        return origin;
    }

    private static Endpoint named(String host, FakeUpstream origin) {
        return new Endpoint(Endpoint.NAMED_INDEX, host, origin.port(), 1);
    }

    // The rest

    @Test
    void aUnixDomainSocketCanBeAnEndpoint() throws Exception {
        Path socket = directory.resolve("origin.sock");
        FakeUpstream origin = new FakeUpstream(transport, transport.unixAddress(socket), false, 0, null);
        open.add(origin);
        to("unix:" + socket, 0);

        assertThat(get("/").connection()).isEqualTo(1);
        assertThat(get("/").connection()).isEqualTo(1);
    }

    @Test
    void aRetiredUpstreamKeepsNoConnection() throws Exception {
        FakeUpstream origin = http1();
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
    void aRetiredUpstreamKeepsNoConnectionToWhatIsNamedAfterwards() throws Exception {
        FakeUpstream origin = http1();
        upstreamOf(List.of(), NamedByRequest.POLICY, DialSettings.DIRECT);
        pools.retire(upstream);
        assertThat(getFrom(named("127.0.0.1", origin), "/").connection()).isEqualTo(1);
        awaitEvent("closed");
        assertThat(namedEndpoints()).isZero();
    }

    @Test
    void aRemovedUpstreamFailsWhatWaits() throws Exception {
        settings.maxConnections = 1;
        FakeUpstream origin = http1();
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
}
