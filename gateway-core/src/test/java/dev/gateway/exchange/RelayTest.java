package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.Fakes.FakeClientStream;
import dev.gateway.message.Fields;
import org.junit.jupiter.api.Test;

/** One direction, from a client to an upstream that the test plays. */
class RelayTest extends PartRig {
    private final Relay relay = Relay.ofResponse(context);

    @Test
    void aSinkWithRoomHasItsSourceCreditedAtOnce() {
        relay.join(client, upstream);
        relay.data(bytes("abc"), false);
        assertThat(upstream.body).hasToString("abc");
        assertThat(client.consumed).isEqualTo(3);
        assertThat(relay.isStalled()).isFalse();
    }

    @Test
    void aSinkWithoutRoomHasItsSourceWait() {
        relay.join(client, upstream);
        upstream.writable = false;
        relay.data(bytes("abc"), false);
        relay.data(bytes("d"), false);
        assertThat(upstream.body).hasToString("abcd");
        assertThat(client.consumed).isZero();
        assertThat(relay.isStalled()).isTrue();
        upstream.writable = true;
        relay.credit();
        assertThat(client.consumed).isEqualTo(4);
        relay.credit();
        assertThat(client.consumed).isEqualTo(4);
    }

    @Test
    void whatWaitsInTheSinkIsChargedUntilThereIsRoom() {
        relay.join(client, upstream);
        upstream.writable = false;
        upstream.unsent = 3;
        relay.data(bytes("abc"), false);
        assertThat(bodies.held()).isEqualTo(3);
        upstream.unsent = 1000;
        relay.data(bytes("d"), false);
        assertThat(bodies.held()).isEqualTo(1000);
        upstream.writable = true;
        relay.credit();
        assertThat(bodies.held()).isZero();
        upstream.writable = false;
        relay.data(bytes("e"), false);
        assertThat(bodies.held()).isEqualTo(1000);
        relay.end();
        assertThat(bodies.held()).isZero();
    }

    /** The peer may be silent for long with a little that nobody asks about. */
    @Test
    void whatLingersInASinkWithRoomIsChargedUntilItHasLeft() {
        relay.join(client, upstream);
        upstream.lingering = 900;
        relay.data(bytes("abc"), false);
        assertThat(client.consumed).isEqualTo(3);
        assertThat(bodies.held()).isZero();
        relay.flush();
        assertThat(bodies.held()).isEqualTo(900);
        upstream.lingering = 700;
        relay.credit();
        assertThat(bodies.held()).isEqualTo(700);
        upstream.lingering = 0;
        relay.credit();
        assertThat(bodies.held()).isZero();
        assertThat(stalled()).isZero();
    }

    @Test
    void whoTakesOneByteAtATimeIsStillStalled() {
        relay.join(client, upstream);
        upstream.lingering = 900;
        relay.data(bytes("abc"), false);
        relay.flush();
        upstream.lingering = 899;
        relay.data(bytes("d"), false); // not flushed
        assertThat(stalled()).isEqualTo(900);
        assertThat(told).containsExactly("failed: overload");
        relay.end();
    }

    @Test
    void whatSomebodyElseKeepsIsChargedOnceAndAgainWhenHeLetsGo() {
        long[] kept = {800};
        Relay upload = Relay.ofRequest(context, waiting -> Math.min(waiting, kept[0]));
        upload.join(client, upstream);
        upstream.writable = false;
        upstream.unsent = 1000;
        upload.data(bytes("abc"), false);
        assertThat(bodies.held()).isEqualTo(200);
        kept[0] = 0;
        upload.onForgotten();
        assertThat(bodies.held()).isEqualTo(1000);
        upstream.writable = true;
        upload.credit();
        upload.onForgotten();
        assertThat(bodies.held()).isZero();
    }

    @Test
    void whatWasDroppedIsOwedAndWhatWasInsertedIsNot() {
        relay.join(client, upstream);
        relay.skip(7);
        relay.insert(bytes("xy"), false);
        assertThat(client.consumed).isEqualTo(7);
        assertThat(upstream.body).hasToString("xy");
    }

    @Test
    void nothingIsLeakedWhereThereIsNoSink() {
        relay.data(bytes("abc"), false);
        relay.insert(bytes("abc"), false);
        relay.trailers(new Fields());
        relay.flush();
        assertThat(client.consumed).isZero();
    }

    @Test
    void onlyWhatWasWrittenIsFlushed() {
        relay.join(client, upstream);
        relay.flush();
        assertThat(upstream.flushes).isZero();
        relay.data(bytes("a"), false);
        relay.flush();
        relay.flush();
        assertThat(upstream.flushes).isEqualTo(1);
        upstream.head(exchange().head, false);
        relay.wrote();
        relay.flush();
        assertThat(upstream.flushes).isEqualTo(2);
        relay.trailers(new Fields());
        relay.flush();
        assertThat(upstream.flushes).isEqualTo(3);
    }

    @Test
    void whatTheSourceIsOwedStaysSoWithAnotherSinkAndEndsWithAnotherSource() {
        relay.pass(client, upstream);
        upstream.writable = false;
        relay.data(bytes("abc"), false);
        FakeClientStream next = new FakeClientStream();
        relay.pass(client, next);
        relay.credit();
        assertThat(client.consumed).isEqualTo(3);
        next.writable = false;
        relay.data(bytes("de"), false);
        relay.join(client, upstream);
        upstream.writable = true;
        relay.credit();
        assertThat(client.consumed).isEqualTo(3);
        relay.end();
    }

    @Test
    void whatTheSinkDoesNotTakeIsCutWhenMemoryRunsLow() {
        relay.join(client, upstream);
        upstream.writable = false;
        relay.data(bytes("abc"), false);
        assertThat(stalled()).isEqualTo(3);
        assertThat(told).containsExactly("failed: overload");
    }

    @Test
    void whoHasRoomAgainOrHasEndedIsNotCut() {
        relay.join(client, upstream);
        upstream.writable = false;
        relay.data(bytes("abc"), false);
        upstream.writable = true;
        relay.credit();
        assertThat(stalled()).isZero();
        upstream.writable = false;
        relay.data(bytes("abc"), false);
        relay.end();
        assertThat(stalled()).isZero();
        assertThat(told).isEmpty();
    }

    /** What it has handed over is the sink's alone, which ends by itself. */
    @Test
    void anExchangeThatIsOverIsNotCut() {
        relay.join(client, upstream);
        exchange().state.on(Event.CLIENT_GONE);
        upstream.writable = false;
        relay.data(bytes("abc"), true);
        assertThat(stalled()).isZero();
    }
}
