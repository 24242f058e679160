package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.settings.BodyRate;
import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.StreamEvents;
import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;

/** Clients that send the body of a request slowly: 100 bytes in a second, at most two seconds late. */
class SlowBodyTest extends ExchangeRig {
    SlowBodyTest() {
        settings.bodyRate = new BodyRate(100, 2_000);
    }

    private void trickle(StreamEvents events, int times, int bytes) {
        for (int i = 0; i < times && client.heads.isEmpty(); i++) {
            events.onData(bytes("x".repeat(bytes)), false);
            pass(200);
        }
    }

    @Test
    void aBodyThatTricklesIsAnswered408() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        trickle(events, 20, 1);
        assertAnswered(408, Cause.CLIENT_TIMEOUT);
        assertThat(record().detail).contains("minBodyRate");
        assertThat(upstream().reset).isNotNull();
    }

    @Test
    void aBodyThatKeepsUpIsNotEnded() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        trickle(events, 100, 25);
        assertThat(client.heads).isEmpty();
        events.onData(bytes("end"), true);
        pass(10_000);
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isNull();
    }

    @Test
    void aClientIsNotWaitedForWhileThereIsNoConnection() {
        StreamEvents events = request("POST", "/", false);
        trickle(events, 100, 1);
        assertThat(client.heads).isEmpty();
        opener.last().succeed();
        trickle(events, 20, 1);
        assertAnswered(408, Cause.CLIENT_TIMEOUT);
    }

    @Test
    void aClientIsNotWaitedForWhileTheUpstreamHasNoRoom() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        events.onData(bytes("some"), false);
        pass(20_000);
        assertThat(client.heads).isEmpty();
        upstream().writable = true;
        opener.last().events.onWritable();
        trickle(events, 20, 1);
        assertAnswered(408, Cause.CLIENT_TIMEOUT);
    }

    @Test
    void aBodyMayGoOnSlowlyOnceTheResponseHasBegun() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        for (int i = 0; i < 100; i++) {
            events.onData(bytes("x"), false);
            pass(200);
        }
        assertThat(client.reset).isNull();
        events.onData(bytes("end"), true);
        opener.last().events.onData(bytes("end"), true);
        assertThat(record().cause).isNull();
    }

    @Test
    void callsOfGrpcMayStream() {
        route();
        RequestHead head = head("POST", "/");
        head.fields().add(FieldName.CONTENT_TYPE, AsciiString.of("application/grpc"));
        StreamEvents events = handler().onRequest(client, head, false);
        opener.last().succeed();
        trickle(events, 100, 1);
        assertThat(client.heads).isEmpty();
        events.onReset(GONE);
    }

    @Test
    void aTunnelMayBeSlow() {
        StreamEvents events = tunnel();
        for (int i = 0; i < 50; i++) {
            events.onData(bytes("x"), false);
            pass(200);
        }
        assertThat(client.reset).isNull();
        close(events);
    }

    /** The gateway consents a second after the head was sent, if the upstream does not. */
    @Test
    void whoWaitsForConsentIsNotSlow() {
        route();
        RequestHead head = head("POST", "/");
        head.fields().add(FieldName.EXPECT, AsciiString.of("100-continue"));
        handler().onRequest(client, head, false);
        pass(5_000);
        assertThat(client.heads).isEmpty();
        opener.last().succeed();
        pass(2_800);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(100);
        pass(1_000);
        assertThat(client.status()).isEqualTo(408);
    }

    @Test
    void aClientThatIsGoneIsLookedAtNoMore() {
        FakeServerStream gone = client;
        StreamEvents events = request("POST", "/", false);
        events.onReset(GONE);
        pass(10_000);
        assertThat(gone.heads).isEmpty();
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }
}
