package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.route.Route;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long a tunnel may last, and what is told of it meanwhile. */
class TunnelTimeTest extends ExchangeRig {
    // ---- time

    private void limits(long idle, long halfClosed, long max) {
        timeouts = new Route.Timeouts(
                200,
                150,
                50,
                new TunnelTimeouts(Duration.ofMillis(idle), Duration.ofMillis(halfClosed), Duration.ofMillis(max)));
    }

    @Test
    void theLimitsOfRequestsEndWhereATunnelBegins() {
        limits(0, 0, 0);
        StreamEvents events = tunnel();
        pass(1000);
        assertThat(client.reset).isNull();
        close(events);
    }

    @Test
    void aTunnelOnWhichNothingMovesIsReset() {
        limits(100, 0, 0);
        StreamEvents events = tunnel();
        for (int i = 0; i < 3; i++) {
            pass(70);
            events.onData(bytes("x"), false);
            pass(70);
            opener.last().events.onData(bytes("y"), false);
        }
        assertThat(client.reset).isNull();
        pass(150);
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(upstream().reset).extracting(Failure::cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHalfClosedTunnelHasATimeOfItsOwn(boolean clientFirst) {
        limits(1000, 100, 0);
        StreamEvents events = tunnel();
        pass(500);
        StreamEvents ends = clientFirst ? events : opener.last().events;
        StreamEvents goesOn = clientFirst ? opener.last().events : events;
        ends.onData(Unpooled.EMPTY_BUFFER, true);
        pass(70);
        goesOn.onData(bytes("x"), false);
        pass(70);
        assertThat(client.reset).isNull();
        pass(70);
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(record().endedBy).isEqualTo(clientFirst ? Side.CLIENT : Side.UPSTREAM);
    }

    @Test
    void withoutATimeOfItsOwnAHalfClosedTunnelHasThatOfOthers() {
        limits(100, 0, 0);
        StreamEvents events = tunnel();
        events.onData(Unpooled.EMPTY_BUFFER, true);
        pass(150);
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
    }

    @Test
    void aClientThatEndedBeforeTheTunnelOpenedLeavesItHalfClosed() {
        limits(0, 100, 0);
        offerTunnels();
        handler().onRequest(client, head("CONNECT", "api.example.com:443", ""), true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        pass(150);
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
        assertThat(record().endedBy).isEqualTo(Side.CLIENT);
    }

    @Test
    void aTunnelHasItsTimeHoweverMuchMoves() {
        limits(100, 0, 300);
        StreamEvents events = tunnel();
        for (int i = 0; i < 4; i++) {
            pass(70);
            events.onData(bytes("x"), false);
        }
        assertThat(client.reset).isNull();
        pass(50);
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.MAX_DURATION);
        assertThat(record().cause).isEqualTo(Cause.MAX_DURATION);
        assertThat(record().endedBy).isEqualTo(Side.GATEWAY);
    }

    @Test
    void aClientThatIsGoneInsideTheAnswerLeavesNoTimerBehind() {
        limits(100, 100, 100);
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        client.onNextCall = () -> events.onReset(GONE);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    // ---- what is told of it

    @Test
    void aTunnelIsReportedWhenItOpensWhileItIsInUseAndWhenItEnds() {
        StreamEvents events = tunnel();
        assertThat(records.tunnels).containsExactly("open");
        pass(TunnelExchange.REPORT_MILLIS + 100);
        assertThat(records.tunnels).as("nothing has moved").containsExactly("open");
        events.onData(bytes("abc"), false);
        assertThat(records.tunnelReceived).as("live").isEqualTo(3);
        pass(TunnelExchange.REPORT_MILLIS);
        opener.last().events.onData(bytes("de"), false);
        assertThat(records.tunnelSent).as("live").isEqualTo(2);
        pass(2 * TunnelExchange.REPORT_MILLIS);
        close(events);
        assertThat(records.tunnels).containsExactly("open", "3 in, 0 out", "3 in, 2 out", "close");
    }

    @Test
    void whatCameAheadIsCountedOnce() {
        offerTunnels();
        StreamEvents events = connect("api.example.com:443");
        events.onData(bytes("ahead"), false);
        assertThat(records.tunnelReceived).isZero();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        events.onData(bytes("!"), false);
        assertThat(records.tunnelReceived).isEqualTo(6);
        close(events);
        events.onData(bytes("too late"), false);
    }

    @Test
    void aTunnelThatIsNotOpenedIsNotReportedAsOpen() {
        connect("api.example.com:443");
        assertThat(records.tunnels).isEmpty();
        assertThat(record().openedNanos).isZero();
    }

    @Test
    void aDrainingListenerLeavesTunnelsAlone() {
        StreamEvents events = tunnel();
        events.onDraining();
        opener.last().events.onData(bytes("x"), false);
        assertThat(client.body).hasToString("x");
        close(events);
        assertThat(record().cause).isNull();
    }
}
