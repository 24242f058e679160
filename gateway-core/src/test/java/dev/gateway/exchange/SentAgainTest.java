package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.route.Route;
import dev.gateway.message.Fields;
import dev.gateway.stream.Cause;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import io.netty.util.AsciiString;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Bodies that have been sent, in part or in whole, and are sent again by another attempt. */
class SentAgainTest extends ExchangeRig {
    @Test
    void aRequestWhoseBodyIsOnItsWayIsSentAgainFromWhatIsKept() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        events.onData(bytes("b"), false);
        assertThat(client.consumed).isEqualTo(2);
        for (int i = 0; i < 2; i++) {
            opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
            opener.last().succeed();
            assertThat(upstream().body).hasToString("ab");
            assertThat(upstream().ended).isFalse();
        }
        assertThat(client.consumed).isEqualTo(2);
        events.onData(bytes("c"), true);
        assertThat(upstream().body).hasToString("abc");
        assertThat(upstream().ended).isTrue();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(upstream().body).hasToString("abc");
        assertThat(upstream().ended).isTrue();
        assertThat(client.consumed).isEqualTo(3);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void whatComesBetweenTwoAttemptsFollowsWhatIsKept() {
        retry = new Route.Retry(1, Set.of(), 100);
        StreamEvents events = request("PUT", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        events.onData(bytes("b"), false);
        Fields trailers = new Fields();
        trailers.add(new AsciiString("x-t"), new AsciiString("1"));
        events.onTrailers(trailers);
        pass(150);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("ab");
        assertThat(upstream().trailers).isNotNull();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(upstream().body).hasToString("ab");
        assertThat(upstream().trailers).isNotNull();
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void whatTheUpstreamHasNotTakenStaysOwedAfterAnotherAttempt() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        events.onData(bytes("abc"), false);
        assertThat(client.consumed).isZero();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(upstream().body).hasToString("abc");
        assertThat(client.consumed).isEqualTo(3);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void aBodyThatMayHaveBeenProcessedIsNotSentAgain() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), true);
        opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
    }

    @Test
    void aBodyThatIsTooLargeToBeKeptIsNotSentAgain() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a".repeat(Route.Retry.NONE.bufferBytes() + 1)), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
    }

    @Test
    void aBodyThatIsStillHeldGoesToTheNextEndpoint() {
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("abc"), true);
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("abc");
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void aCreditEndsWithItsStream() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(opener.openings).hasSize(2);
        events.onData(bytes("abc"), true);
        assertThat(client.consumed).isEqualTo(3);
        opener.last().events.onHead(response(200), true);
        assertThat(record().attempts).isEqualTo(2);
    }
}
