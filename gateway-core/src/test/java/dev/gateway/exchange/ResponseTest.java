package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.tunnel.WebSocketCloser;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an upstream sends, from its stream to the client's. */
class ResponseTest extends PartRig {
    private final Response response = exchange().response;

    @BeforeEach
    void attach() {
        requested();
        response.attach(upstream);
    }

    private void headOf(int status) {
        response.onHead(ExchangeRig.response(status), false);
    }

    @Test
    void aHeadThenABody() {
        exchange().state.on(Event.REQUEST_ENDED);
        headOf(200);
        assertThat(client.status()).isEqualTo(200);
        assertThat(exchange().record.status).isEqualTo(200);
        assertThat(exchange().record.respondedNanos).isEqualTo(now);
        response.onData(bytes("ab"), false);
        response.onData(bytes("c"), true);
        assertThat(client.body).hasToString("abc");
        assertThat(upstream.consumed).isEqualTo(3);
        assertThat(exchange().record.sentBytes).isEqualTo(3);
        assertThat(records.completed).containsExactly(exchange().record);
    }

    @Test
    void aHeadMayBeAll() {
        response.onHead(ExchangeRig.response(204), true);
        assertThat(client.ended).isTrue();
        assertThat(records.completed).containsExactly(exchange().record);
    }

    @Test
    void aHeadWithoutADateGetsTheTimeAtWhichItCame() {
        response.onInterim(ExchangeRig.response(103), false);
        assertThat(client.heads.get(0).fields().contains(FieldName.DATE)).isFalse();
        headOf(200);
        assertThat(client.field("Date")).matches("[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT");
    }

    @Test
    void aDateOfTheUpstreamStays() {
        ResponseHead head = ExchangeRig.response(200);
        head.fields().add(FieldName.DATE, "Sun, 06 Nov 1994 08:49:37 GMT");
        response.onHead(head, false);
        assertThat(client.heads.get(0).fields()).hasToString("Date: Sun, 06 Nov 1994 08:49:37 GMT\n");
    }

    @Test
    void aHeadThatComesTooLateIsNotForwarded() {
        exchange().state.on(Event.CLIENT_GONE);
        headOf(200);
        assertThat(client.heads).isEmpty();
    }

    @Test
    void trailersEndIt() {
        headOf(200);
        Fields trailers = new Fields();
        trailers.add(FieldName.of("x-sum"), "1");
        trailers.add(FieldName.CONTENT_LENGTH, "1");
        response.onTrailers(trailers);
        assertThat(client.trailers).hasToString("x-sum: 1\n");
        assertThat(records.completed).containsExactly(exchange().record);
    }

    @Test
    void aClientWithoutRoomHasTheUpstreamWait() {
        headOf(200);
        client.writable = false;
        response.onData(bytes("ab"), false);
        assertThat(upstream.consumed).isZero();
        client.writable = true;
        response.credit();
        assertThat(upstream.consumed).isEqualTo(2);
    }

    @Test
    void consentToABodyIsForwardedUnlessItComesAlready() {
        response.onInterim(ExchangeRig.response(100), true);
        assertThat(client.heads).isEmpty();
        client.writable = false; // whoever waits for it gets it all the same
        response.onInterim(ExchangeRig.response(100), false);
        assertThat(client.heads).hasSize(1);
    }

    @Test
    void consentIsDueToAClientThatAsksForItUntilItIsGiven() {
        assertThat(response.isContinueDue()).isFalse();
        exchange().head.fields().add(FieldName.EXPECT, "100-continue");
        assertThat(response.isContinueDue()).isTrue();
        response.onInterim(ExchangeRig.response(100), false);
        assertThat(response.isContinueDue()).isFalse();
    }

    @Test
    void consentIsGivenOnceWhoeverGivesIt() {
        exchange().head.fields().add(FieldName.EXPECT, "100-continue");
        response.sendContinue();
        assertThat(response.isContinueDue()).isFalse();
        response.onInterim(ExchangeRig.response(100), false);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(100);
    }

    @Test
    void hintsAreForwardedWhileThereIsRoomAndNotWithoutEnd() {
        client.writable = false;
        response.onInterim(ExchangeRig.response(103), false);
        assertThat(client.heads).isEmpty();
        client.writable = true;
        for (int i = 0; i < 10; i++) {
            response.onInterim(ExchangeRig.response(103), false);
        }
        assertThat(client.heads).extracting(ResponseHead::status).hasSize(8).containsOnly(103);
    }

    @Test
    void aCloseFrameIsSentBetweenTwoOthers() {
        headOf(200);
        WebSocketCloser closer = new WebSocketCloser();
        response.interleave(closer);
        response.sendClose();
        assertThat(client.body).isEmpty(); // nobody wants it yet
        closer.want();
        response.sendClose();
        assertThat(closer.isSent()).isTrue();
        assertThat(client.body).hasSize(4);
        response.onData(bytes("late"), false);
        assertThat(client.body).hasSize(4);
        assertThat(upstream.consumed).isEqualTo(4); // the upstream is owed what was dropped, and nothing for the frame
    }
}
