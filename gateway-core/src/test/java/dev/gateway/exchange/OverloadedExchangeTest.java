package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.OverloadConfig;
import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.config.value.Position;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.Action;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.Pressure;
import dev.gateway.overload.Resource;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.ClientShares;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.LoggedLines;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an exchange makes the process hold, and what becomes of one that there is no room for. */
class OverloadedExchangeTest extends ExchangeRig {
    private static final long CAPACITY = 64 * 1024;

    private final LoopBudget budget = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final Overload overload = new Overload();
    private double level;

    OverloadedExchangeTest() {
        gate = new LoopGate(overload, budget, null);
        client.account = new Account(budget);
        overload.watch(new Pressure() {
            @Override
            public Resource resource() {
                return Resource.HEAP;
            }

            @Override
            public double level() {
                return level;
            }
        });
    }

    @AfterEach
    void nothingIsHeldAnyMore() {
        assertThat(budget.held()).isZero();
    }

    private static RequestHead headOf(int bytes) {
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.COOKIE, "c".repeat(bytes));
        return head;
    }

    @Test
    void anExchangeHoldsItselfAndItsHeadUntilItEnds() {
        route();
        RequestHead head = headOf(4000);
        handler().onRequest(client, head, true);
        assertThat(budget.held()).isGreaterThan(Cost.EXCHANGE + 4000);
        assertThat(client.account.held()).isEqualTo(budget.held());
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(budget.held()).isZero();
    }

    /** Its connection is that of a proxy, which many clients share. */
    @Test
    void behindATrustedProxyEachClientIsCharged() {
        fromProxy(headOf(4000), "203.0.113.9");
        assertThat(client.account.held()).isZero();
        assertThat(budget.held()).isGreaterThan(Cost.EXCHANGE + 4000);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().connection.account().client()).hasToString("203.0.113.9");
    }

    @Test
    void behindATrustedProxyEachClientHasAShare() {
        fromProxy(headOf(14_000), "203.0.113.9");
        FakeServerStream second = new FakeServerStream();
        RequestHead more = headOf(14_000);
        more.fields().add(FieldName.X_FORWARDED_FOR, "203.0.113.9");
        handler().onRequest(second, more, true);
        assertThat(second.status()).isEqualTo(503);
        assertThat(record().cause).isEqualTo(Cause.OVERLOAD);
        FakeServerStream third = new FakeServerStream();
        RequestHead ofAnother = headOf(1000);
        ofAnother.fields().add(FieldName.X_FORWARDED_FOR, "203.0.113.10");
        handler().onRequest(third, ofAnother, true);
        assertThat(opener.openings).hasSize(2);
        opener.openings.forEach(opening -> {
            opening.succeed();
            opening.events.onHead(response(200), true);
        });
        assertThat(third.status()).isEqualTo(200);
    }

    private void fromProxy(RequestHead head, String forwardedFor) {
        settings.trust = trust(HeadersWithUnderscores.ALLOW);
        route();
        head.fields().add(FieldName.X_FORWARDED_FOR, forwardedFor);
        handler().onRequest(client, head, true);
    }

    private static Filter adding(int bytes, Verdict verdict) {
        return new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                head.fields().add(FieldName.of("X-Claims"), "c".repeat(bytes));
                return verdict;
            }
        };
    }

    /** It waits with the request for the upstream's answer. */
    @Test
    void whatFiltersAddToTheHeadIsCharged() {
        filters.add(adding(8000, Verdict.PROCEED));
        route();
        handler().onRequest(client, headOf(4000), true);
        assertThat(budget.held()).isGreaterThan(Cost.EXCHANGE + 4000 + 8000);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void whatFiltersAddToTheHeadMayBeTooMuch() {
        filters.add(adding((int) CAPACITY, Verdict.PROCEED));
        route();
        handler().onRequest(client, headOf(4000), true);
        assertAnswered(503, Cause.OVERLOAD);
        assertThat(opener.openings).isEmpty();
    }

    @Test
    void whatAFilterAddsBeforeItWaitsIsCharged() {
        filters.add(adding(8000, new Verdict.Wait(() -> {})));
        route();
        StreamEvents events = handler().onRequest(client, headOf(4000), true);
        assertThat(budget.held()).isGreaterThan(Cost.EXCHANGE + 4000 + 8000);
        events.onReset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
    }

    /** A success is of no use without its body. */
    @Test
    void aReplyOfAFilterForWhichThereIsNoRoomBecomesARefusal() {
        ByteBuf body = bytes("a page");
        filters.add(adding(0, new Verdict.Reply(response(200), body)));
        route();
        client.roomForReplies = false;
        handler().onRequest(client, head("GET", "/"), true);
        assertThat(body.refCnt()).isZero();
        assertThat(client.status()).isEqualTo(503);
        assertThat(client.body).isEmpty();
        assertThat(record().cause).isEqualTo(Cause.OVERLOAD);
    }

    /** Its client may take long to read it, and the log may have some of its fields. */
    @Test
    void aResponsesHeadIsChargedUntilTheExchangeEnds() {
        route();
        handler().onRequest(client, head("GET", "/"), true);
        opener.last().succeed();
        long before = budget.held();
        ResponseHead head = response(200);
        head.fields().add(FieldName.SET_COOKIE, "c".repeat(4000));
        opener.last().events.onHead(head, false);
        assertThat(budget.held()).isGreaterThan(before + 4000);
        opener.last().events.onData(bytes("ok"), true);
        assertThat(record().responseFields).isSameAs(head.fields());
    }

    @Test
    void aResponsesHeadForWhichThereIsNoRoomIsForwardedAndNotKept() {
        route();
        handler().onRequest(client, head("GET", "/"), true);
        opener.last().succeed();
        ResponseHead head = response(200);
        head.fields().add(FieldName.SET_COOKIE, "c".repeat((int) CAPACITY));
        opener.last().events.onHead(head, false);
        opener.last().events.onData(bytes("ok"), true);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().responseFields).isNull();
    }

    /** A window bounds the bytes, not the pieces; each takes room on the heap besides its bytes. */
    @Test
    void aBodyThatWaitsInManyPiecesIsRefused() {
        route();
        StreamEvents upload = handler().onRequest(client, head("POST", "/"), false);
        int pieces = 0;
        while (client.heads.isEmpty() && pieces < 1000) {
            upload.onData(bytes("x"), false);
            pieces++;
            assertThat(budget.held()).isLessThanOrEqualTo(CAPACITY);
        }
        assertAnswered(503, Cause.OVERLOAD);
        assertThat(pieces).isBetween(50, (int) (CAPACITY / Cost.PIECE));
    }

    @Test
    void whatWasPassedOnIsNotChargedAsWaiting() {
        route();
        StreamEvents upload = handler().onRequest(client, head("POST", "/"), false);
        long before = budget.held();
        for (int i = 0; i < 10; i++) {
            upload.onData(bytes("x"), false);
        }
        assertThat(budget.held()).isEqualTo(before + 10 * Cost.PIECE);
        opener.last().succeed();
        upload.onData(bytes("x"), true);
        opener.last().events.onHead(response(200), true);
        assertThat(budget.held()).isZero();
    }

    @Test
    void aBodyThatWaitsForAConnectionIsCutWhenMemoryRunsOut() {
        route();
        StreamEvents upload = handler().onRequest(client, head("POST", "/"), false);
        upload.onData(bytes("hello"), false);
        upload.onData(bytes("there"), false);
        assertThat(StalledPeers.ofThisLoop().cut(11, Long.MAX_VALUE, 0)).isZero();
        assertThat(StalledPeers.ofThisLoop().cut(10, 1, 0)).isEqualTo(10);
        assertAnswered(503, Cause.OVERLOAD);
        assertThat(StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
    }

    /** The reviews of the memory come too late for a client that is fast. */
    @Test
    void aBodyThatWaitsIsRefusedBeyondItsShareOfDirectMemory() {
        LoopBudget bodies = new LoopBudget(new MemoryBudget(CAPACITY, 1));
        client.account = new Account(budget, bodies);
        FakeServerStream neighbor = new FakeServerStream();
        neighbor.account = new Account(budget, bodies);
        route();
        StreamEvents greedy = handler().onRequest(client, head("POST", "/"), false);
        for (int i = 0; i < 4; i++) {
            assertThat(client.heads).isEmpty();
            greedy.onData(bytes("x".repeat(8000)), false);
        }
        assertAnswered(503, Cause.OVERLOAD);
        assertThat(bodies.held()).isZero();

        StreamEvents upload = handler().onRequest(neighbor, head("POST", "/"), false);
        upload.onData(bytes("y".repeat(8000)), false);
        assertThat(bodies.held()).isEqualTo(8000);
        opener.last().succeed();
        assertThat(bodies.held()).as("kept for another attempt").isPositive();
        opener.last().events.onHead(response(200), false);
        assertThat(bodies.held()).as("it was passed on").isZero();
        upload.onReset(GONE);
    }

    @Test
    void aBodyThatWaitsIsDiscardedWithItsRequest() {
        LoopBudget bodies = new LoopBudget(new MemoryBudget(CAPACITY, 1));
        client.account = new Account(budget, bodies);
        route();
        StreamEvents upload = handler().onRequest(client, head("POST", "/"), false);
        upload.onData(bytes("hello"), false);
        upload.onData(bytes("there"), false);
        assertThat(bodies.held()).isEqualTo(10);
        upload.onReset(GONE);
        assertThat(bodies.held()).isZero();
    }

    @Test
    void aBodyThatWasPassedOnIsNotCut() {
        route();
        StreamEvents upload = handler().onRequest(client, head("POST", "/"), false);
        upload.onData(bytes("hello"), false);
        opener.last().succeed();
        assertThat(StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
        upload.onReset(GONE);
    }

    @Test
    void aRequestThatThereIsNoRoomForIsAnswered503() {
        route();
        Account other = new Account(budget);
        other.charge(CAPACITY - 1000);
        handler().onRequest(client, head("GET", "/"), true);
        assertAnswered(503, Cause.OVERLOAD);
        assertThat(opener.openings).isEmpty();
        other.release(CAPACITY - 1000);
    }

    /** It may be a balancer with few connections, none of which is refused. */
    @Test
    void whoseRequestsAreRefusedForWhatItHoldsIsLogged() {
        route();
        try (LoggedLines log = LoggedLines.of("dev.gateway.overload.ShareLog")) {
            List<FakeServerStream> streams = new ArrayList<>();
            List<StreamEvents> waiting = new ArrayList<>();
            ClientShares shares = new ClientShares();
            client.account.countFor(shares, "balancer");
            while (streams.stream().filter(each -> each.status() == 503).count() < 2) {
                FakeServerStream each = new FakeServerStream();
                each.account = client.account;
                streams.add(each);
                waiting.add(handler().onRequest(each, headOf(1000), true));
            }
            assertThat(budget.left()).as("for others").isGreaterThan(CAPACITY / 2);
            assertThat(log.warnings())
                    .containsExactly("listener web refuses requests (1 so far), such as of 192.0.2.7:5555, which "
                            + "holds as much memory as a connection or a client may. If it is a proxy, set proxyProtocol or "
                            + "trustedProxies");
            waiting.forEach(each -> each.onReset(GONE));
        }
    }

    @Test
    void whatFiltersAddBeyondAShareIsLogged() {
        filters.add(adding(40_000, Verdict.PROCEED));
        route();
        ClientShares shares = new ClientShares();
        client.account.countFor(shares, "balancer");
        client.account.charge(10_000);
        try (LoggedLines log = LoggedLines.of("dev.gateway.overload.ShareLog")) {
            handler().onRequest(client, headOf(1000), true);
            assertAnswered(503, Cause.OVERLOAD);
            assertThat(log.warnings()).hasSize(1);
        }
        client.account.release(10_000);
    }

    @Test
    void whatAFilterHoldsBeyondAShareIsLogged() {
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                assertThat(context.tryHold(40_000, false)).isFalse();
                assertThat(context.tryHold(40_000, true)).isFalse();
                return Verdict.PROCEED;
            }
        });
        route();
        client.account.countFor(new ClientShares(), "balancer");
        client.account.charge(10_000);
        try (LoggedLines log = LoggedLines.of("dev.gateway.overload.ShareLog")) {
            handler().onRequest(client, headOf(1000), true);
            assertThat(log.warnings()).singleElement().asString().contains("(1 so far)");
        }
        client.account.release(10_000);
        opener.last().succeed();
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void aStreamToAnUpstreamBeyondAShareIsLogged() {
        route();
        client.account.countFor(new ClientShares(), "balancer");
        handler().onRequest(client, headOf(1000), true);
        client.account.charge(30_000);
        try (LoggedLines log = LoggedLines.of("dev.gateway.overload.ShareLog")) {
            opener.last().succeed();
            assertAnswered(503, Cause.OVERLOAD);
            assertThat(log.warnings()).hasSize(1);
        }
        client.account.release(30_000);
    }

    @Test
    void whereNothingIsLeftForAnybodyNoClientIsBlamed() {
        route();
        client.account.countFor(new ClientShares(), "client");
        client.account.charge(CAPACITY / 4);
        Account other = new Account(budget);
        other.charge(CAPACITY / 4 * 3 - 1000);
        try (LoggedLines log = LoggedLines.of("dev.gateway.overload.ShareLog")) {
            handler().onRequest(client, head("GET", "/"), true);
            assertAnswered(503, Cause.OVERLOAD);
            assertThat(log.all()).isEmpty();
        }
        other.release(CAPACITY / 4 * 3 - 1000);
        client.account.release(CAPACITY / 4);
    }

    @Test
    void aProtocolThatCanRefuseARequestDoesAndNothingIsAnswered() {
        route();
        client.canRefuse = true;
        Account other = new Account(budget);
        other.charge(CAPACITY - 1000);
        handler().onRequest(client, head("GET", "/"), true);
        assertThat(client.refused).isNotNull();
        assertThat(client.heads).isEmpty();
        assertThat(record().status).isEqualTo(503);
        assertThat(record().cause).isEqualTo(Cause.OVERLOAD);
        other.release(CAPACITY - 1000);
    }

    @Test
    void exchangesThatWaitForAnUpstreamThatHangsAreBounded() {
        route();
        StreamEvents[] waiting = new StreamEvents[100];
        int refused = 0;
        for (int i = 0; i < waiting.length; i++) {
            FakeServerStream each = new FakeServerStream();
            each.account = new Account(budget);
            waiting[i] = handler().onRequest(each, headOf(4000), true);
            refused += each.status() == 503 ? 1 : 0;
            assertThat(budget.held()).isLessThanOrEqualTo(CAPACITY);
        }
        assertThat(refused).isBetween(80, 99);
        for (StreamEvents each : waiting) {
            each.onReset(GONE);
        }
    }

    @Test
    void requestsThatWaitForOneUpstreamLeaveRoomForAnother() {
        route();
        List<StreamEvents> waiting = fillWithWaiting();
        assertThat(records.completed.get(0).cause).isEqualTo(Cause.OVERLOAD);
        assertThat(records.completed.get(0).upstream).isEqualTo("app");
        assertThat(budget.left()).isGreaterThan(CAPACITY / 3);
        route(); // to another upstream
        handler().onRequest(client, headOf(4000), true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(client.status()).isEqualTo(200);
        waiting.forEach(each -> each.onReset(GONE));
    }

    @Test
    void whoWaitsNoMoreMakesRoomForMoreRequestsToTheSameUpstream() {
        route();
        List<StreamEvents> waiting = fillWithWaiting();
        waiting.forEach(each -> each.onReset(GONE));
        handler().onRequest(client, headOf(4000), true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(client.status()).isEqualTo(200);
    }

    @Test
    void aResponseThatHasBegunDoesNotKeepOthersFromTheUpstream() {
        route();
        List<StreamEvents> open = new ArrayList<>();
        while (budget.left() > CAPACITY / 4) {
            FakeServerStream each = new FakeServerStream();
            each.account = new Account(budget);
            open.add(handler().onRequest(each, headOf(1000), true));
            opener.last().succeed();
            opener.last().events.onHead(response(200), false);
            assertThat(each.status()).isEqualTo(200);
        }
        open.forEach(each -> each.onReset(GONE));
    }

    /** Sends requests that nobody answers, until one is refused. */
    private List<StreamEvents> fillWithWaiting() {
        List<StreamEvents> waiting = new ArrayList<>();
        while (records.completed.isEmpty()) {
            FakeServerStream each = new FakeServerStream();
            each.account = new Account(budget);
            waiting.add(handler().onRequest(each, headOf(1000), true));
        }
        return waiting;
    }

    @Test
    void requestsAreRefusedWhileTheHeapIsFullAndServedWhenItIsNot() {
        route();
        level = 0.95;
        overload.review();
        FakeServerStream early = new FakeServerStream();
        handler().onRequest(early, head("GET", "/"), true);
        assertThat(early.status()).isEqualTo(503);
        level = 0.3;
        overload.review();
        handler().onRequest(client, head("GET", "/"), true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(client.status()).isEqualTo(200);
    }

    @Test
    void trailersThatWaitForAnUpstreamAreHeldToo() {
        StreamEvents events = request("POST", "/", false);
        long before = budget.held();
        Fields trailers = new Fields();
        trailers.add(FieldName.COOKIE, "c".repeat(2000));
        events.onTrailers(trailers);
        assertThat(budget.held()).isGreaterThan(before + 2000);
        events.onReset(GONE);
    }

    /** Another attempt may need them. */
    @Test
    void trailersThatWereForwardedAreHeldToo() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        long before = budget.held();
        Fields trailers = new Fields();
        trailers.add(FieldName.COOKIE, "c".repeat(2000));
        events.onTrailers(trailers);
        assertThat(budget.held()).isGreaterThan(before + 2000);
        events.onReset(GONE);
        assertThat(budget.held()).isZero();
    }

    @Test
    void trailersThatThereIsNoRoomForFailTheRequest() {
        StreamEvents events = request("POST", "/", false);
        Fields trailers = new Fields();
        trailers.add(FieldName.COOKIE, "c".repeat((int) CAPACITY));
        events.onTrailers(trailers);
        assertAnswered(503, Cause.OVERLOAD);
    }

    @Test
    void anErrorForLackOfMemoryEndsTheExchange() {
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                throw new OutOfMemoryError("made by the test");
            }
        });
        route();
        handler().onRequest(client, head("GET", "/"), true);
        assertAnswered(503, Cause.OVERLOAD);
    }

    // ---- interim responses

    @Test
    void eightInterimResponsesAreForwardedAndNoMore() {
        get();
        opener.last().succeed();
        for (int i = 0; i < 20; i++) {
            opener.last().events.onHead(response(103), false);
        }
        opener.last().events.onHead(response(200), true);
        assertThat(client.heads).hasSize(9);
        assertThat(client.status()).isEqualTo(200);
    }

    @Test
    void interimResponsesAreDroppedForAClientThatDoesNotReadButNotTheOneItWaitsFor() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        client.writable = false;
        opener.last().events.onHead(response(103), false);
        opener.last().events.onHead(response(100), false);
        opener.last().events.onHead(response(100), false);
        assertThat(client.heads).extracting(each -> each.status()).containsExactly(100);
        client.writable = true;
        opener.last().events.onHead(response(103), false);
        assertThat(client.heads).hasSize(2);
        events.onReset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
    }

    @Test
    void theContinueThatAClientWaitsForComesAfterAnyNumberOfHints() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        for (int i = 0; i < 20; i++) {
            opener.last().events.onHead(response(103), false);
        }
        opener.last().events.onHead(response(100), false);
        assertThat(client.status()).isEqualTo(100);
        events.onReset(GONE);
    }

    @Test
    void aClientIsToldOnceThatItsConnectionEndsWhileKeepAliveIsGivenUp() {
        level = 0.82;
        overload.review();
        get();
        assertThat(client.closeAnnounced).isTrue();
        assertThat(overload.actions().count(Action.END_KEEP_ALIVE, Resource.HEAP))
                .isOne();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isNull();
    }

    @Test
    void aClientIsNotToldAnythingWhileThereIsEnough() {
        level = 0.79;
        overload.review();
        get();
        assertThat(client.closeAnnounced).isFalse();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void requestsBeyondThoseThatMayBeInFlightAreRefusedAtOnce() {
        overload.configure(new OverloadConfig(Position.NOWHERE, 0.85, 0.85, 0.85, Duration.ofSeconds(1), 1));
        get();
        FakeServerStream other = new FakeServerStream();
        other.account = client.account;
        handler().onRequest(other, head("GET", "/"), true);
        assertThat(other.status()).isEqualTo(503);
        assertThat(records.completed.get(0).cause).isEqualTo(Cause.OVERLOAD);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(client.status()).isEqualTo(200);
    }
}
