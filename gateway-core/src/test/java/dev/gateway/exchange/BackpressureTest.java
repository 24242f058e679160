package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.StreamEvents;
import org.junit.jupiter.api.Test;

/** Bodies of requests and responses, and the credit that their senders get. */
class BackpressureTest extends ExchangeRig {
    @Test
    void bytesThatArriveBeforeTheStreamIsOpenAreHeldWithoutCredit() {
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("ab"), false);
        events.onData(bytes("cd"), true);
        events.onReadComplete();
        assertThat(client.consumed).isZero();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("abcd");
        assertThat(upstream().ended).isTrue();
        assertThat(upstream().unflushed).isZero();
        assertThat(client.consumed).isEqualTo(4);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void aClientGetsCreditOnlyForWhatTheUpstreamHasRoomFor() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        events.onData(bytes("abc"), false);
        events.onData(bytes("de"), false);
        assertThat(client.consumed).isZero();
        upstream().writable = true;
        opener.last().events.onWritable();
        assertThat(client.consumed).isEqualTo(5);
        events.onData(bytes("f"), true);
        assertThat(client.consumed).isEqualTo(6);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void anUpstreamGetsCreditOnlyForWhatTheClientHasRoomFor() {
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.writable = false;
        opener.last().events.onData(bytes("abc"), false);
        assertThat(upstream().consumed).isZero();
        client.writable = true;
        events.onWritable();
        assertThat(upstream().consumed).isEqualTo(3);
        opener.last().events.onData(bytes("d"), true);
        assertThat(upstream().consumed).isEqualTo(4);
    }

    @Test
    void whatIsHeldForAClientThatTakesNothingIsCutWhenMemoryRunsLow() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.writable = false;
        opener.last().events.onData(bytes("abc"), false);
        assertThat(StalledPeers.ofThisLoop().cut(1, 1, 0)).isEqualTo(3);
        assertThat(record().cause).isEqualTo(Cause.OVERLOAD);
        assertThat(StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
    }

    @Test
    void whoHasRoomAgainIsNotCut() {
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.writable = false;
        opener.last().events.onData(bytes("abc"), false);
        client.writable = true;
        events.onWritable();
        assertThat(StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
        opener.last().events.onData(bytes("d"), true);
        assertThat(record().cause).isNull();
    }

    @Test
    void aResponseThatEndsBeforeTheRequestIsDeliveredAndTheRestIsNotSent() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        opener.last().events.onHead(response(413), false);
        opener.last().events.onData(bytes("no"), true);
        assertThat(client.body).hasToString("no");
        assertThat(client.reset).isNull();
        assertThat(upstream().reset).isNotNull();
        assertThat(record().cause).isNull();
        events.onData(bytes("late"), true);
        assertThat(upstream().body).hasToString("a");
    }

    @Test
    void aResponseMayBeginBeforeTheRequestEnds() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("x"), false);
        events.onData(bytes("a"), true);
        opener.last().events.onData(bytes("y"), true);
        assertThat(upstream().reset).isNull();
        assertThat(upstream().body).hasToString("a");
        assertThat(client.body).hasToString("xy");
    }
}
