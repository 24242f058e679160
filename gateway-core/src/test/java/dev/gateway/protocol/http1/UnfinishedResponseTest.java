package dev.gateway.protocol.http1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.overload.memory.StalledPeers.Memory;
import dev.gateway.protocol.http1.Upstream.Received;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.SourceAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What has come of an upstream's head or trailers, and waits for the rest, is charged to the exchange's client. */
class UnfinishedResponseTest {
    private static final int PIECE = 16 * 1024;
    private static final String HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: " + "a".repeat(PIECE);
    private static final String TRAILERS = "0\r\nX: " + "a".repeat(PIECE);

    private final LoopBudget heap = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final LoopGate gate = new LoopGate(new Overload(), heap, new LoopBudget(new MemoryBudget(16 << 20, 1)));
    private final List<Upstream> upstreams = new ArrayList<>();

    @AfterEach
    void nothingIsCharged() {
        upstreams.forEach(Upstream::finish);
        assertThat(heap.held()).isZero();
    }

    private Received ask(String client) {
        Upstream upstream = new Upstream(new Http1ClientSettings(new HeadLimits(1024, 64 * 1024, 20), null));
        upstreams.add(upstream);
        Account account = gate.newAccount();
        gate.admitClient(account, client);
        Received exchange = upstream.get();
        exchange.client = new ConnectionInfo(
                0, "test", HttpVersion.HTTP_1_1, SourceAddress.UNIX, SourceAddress.UNIX, null, null, account);
        upstream.sent();
        return exchange;
    }

    private Upstream last() {
        return upstreams.get(upstreams.size() - 1);
    }

    private static Cause cause(Received exchange) {
        return Objects.requireNonNull(exchange.reset, "it did not fail").cause();
    }

    @Test
    void aPartOfAHeadIsChargedUntilItsRestComes() {
        Received exchange = ask("one");
        last().respond(HEAD);
        assertThat(heap.held()).isBetween((long) PIECE, PIECE * 5L / 4 + 100);
        last().respond("\r\n\r\n");
        assertThat(heap.held()).isZero();
        assertThat(exchange.heads).hasSize(1);
    }

    @Test
    void aPartOfAnInterimHeadIsChargedToo() {
        Received exchange = ask("one");
        last().respond("HTTP/1.1 103 Early Hints\r\nLink: " + "a".repeat(PIECE));
        assertThat(heap.held()).isGreaterThan(PIECE);
        last().respond("\r\n\r\n");
        assertThat(heap.held()).isZero();
        last().respond(HEAD);
        assertThat(heap.held()).isGreaterThan(PIECE);
        assertThat(exchange.heads).hasSize(1);
    }

    @Test
    void aPartOfTrailersIsChargedUntilItsRestComes() {
        Received exchange = ask("one");
        last().respond(HEAD + "\r\n\r\n" + TRAILERS);
        assertThat(heap.held()).isBetween((long) PIECE, PIECE * 5L / 4 + 100);
        last().respond("\r\n\r\n");
        assertThat(heap.held()).isZero();
        assertThat(exchange.trailers).isNotNull();
    }

    @Test
    void itIsChargedUntilTheExchangeIsGivenUp() {
        Received exchange = ask("one");
        last().respond(HEAD);
        exchange.stream().reset(Failure.of(Cause.CLIENT_CLOSED, "test"));
        assertThat(heap.held()).isZero();
    }

    @Test
    void oneClientsResponsesLeaveRoomForAnother() {
        Received greedy = ask("greedy");
        last().respond(HEAD);
        while (greedy.reset == null && upstreams.size() < 100) {
            greedy = ask("greedy");
            last().respond(HEAD);
        }
        assertThat(upstreams.size() * PIECE).isBetween(1 << 18, 1 << 19);
        assertThat(cause(greedy)).isEqualTo(Cause.OVERLOAD);
        assertThat(last().channel.isOpen()).isFalse();
        assertThat(upstreams.get(0).channel.isOpen()).isTrue();
        Received other = ask("other");
        last().respond(HEAD);
        last().respond("\r\n\r\n");
        assertThat(other.heads).hasSize(1);
    }

    /** Its request was admitted, and maybe done. */
    @Test
    void aSmallPartNeedsNoRoom() {
        Received first = ask("greedy");
        heap.charge(heap.left());
        last().respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n");
        last().respond("\r\n5\r\nhello\r\n0\r\n\r");
        last().respond("\n");
        heap.release(heap.held());
        assertThat(first.heads).hasSize(1);
        assertThat(first.reset).isNull();
    }

    @Test
    void trailersWithoutRoomEndTheExchange() {
        Received exchange = ask("greedy");
        last().respond(HEAD + "\r\n\r\n");
        heap.charge(heap.left());
        last().respond(TRAILERS);
        heap.release(heap.held());
        assertThat(cause(exchange)).isEqualTo(Cause.OVERLOAD);
    }

    @Test
    void whatDoesNotFinishIsCutWhenMemoryIsShort() {
        Received exchange = ask("one");
        last().respond(HEAD);
        StalledPeers.ofThisLoop().cut(Memory.HEAP, PIECE / 2, Long.MAX_VALUE, 0, () -> {});
        assertThat(cause(exchange)).isEqualTo(Cause.OVERLOAD);
        assertThat(last().channel.isOpen()).isFalse();
        assertThat(heap.held()).isZero();
    }

    /** Such as a check of an upstream, which has no client. */
    @Test
    void anExchangeOfNoClientIsNotCharged() {
        Received exchange = ask("one");
        exchange.client = null;
        last().respond(HEAD);
        assertThat(heap.held()).isZero();
        last().respond("\r\n\r\n");
        assertThat(exchange.heads).hasSize(1);
    }
}
