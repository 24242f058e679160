package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.message.Fields;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamKind;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One attempt, whose opening and stream the test plays. */
class AttemptTest extends PartRig {
    private static final Failure GONE = Failure.of(Cause.CLIENT_CLOSED, "gone");

    private final Attempt attempt = new Attempt(caller, exchange().response);

    private FakeOpening open() {
        UpstreamSettings limits = UpstreamValues.builder()
                .maxConnections(1)
                .maxPendingRequests(1)
                .maxRequests(1)
                .build();
        Upstream app = new Upstream("app", List.of(), NamedByRequest.POLICY, limits);
        attempt.open(opener, app, ExchangeRig.FIRST, StreamKind.EXCHANGE, ExchangeRig.head("GET", "/"), null);
        return opener.last();
    }

    @Test
    void itsOwnerHearsOfItUntilItIsOver() {
        FakeOpening opening = open();
        opening.callback.onMoved(ExchangeRig.SECOND);
        opening.callback.onDialed(1);
        opening.succeed();
        opening.events.onHead(ExchangeRig.response(200), false);
        opening.events.onWritable();
        opening.events.onTrailers(new Fields());
        assertThat(told)
                .containsExactly("moved to app2.test:9000", "dialed", "opened", "head 200", "writable", "trailers");
        assertThat(attempt.isOpenedAtOnce()).isFalse();
    }

    @Test
    void nothingThatComesOfItLaterIsHeardOf() {
        FakeOpening opening = open();
        opening.succeed();
        attempt.finish();
        assertThat(attempt.isOver()).isTrue();
        told.clear();
        opening.callback.onMoved(ExchangeRig.SECOND);
        opening.callback.onDialed(1);
        opening.events.onHead(ExchangeRig.response(200), false);
        opening.events.onData(bytes("late"), false);
        opening.events.onTrailers(new Fields());
        opening.events.onWritable();
        opening.events.onReset(GONE);
        attempt.abandon(GONE);
        assertThat(told).isEmpty();
        assertThat(opening.stream.reset).isNull();
    }

    @Test
    void itFailsOnce() {
        FakeOpening opening = open();
        opening.succeed();
        opening.events.onReset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "reset"));
        opening.events.onReset(Failure.of(Cause.UPSTREAM_RESET_IN_BODY, "reset"));
        assertThat(told).containsExactly("opened", "attempt failed: upstream_reset_in_body");
    }

    @Test
    void anOpeningThatFailsIsTheAttemptsFailure() {
        FakeOpening opening = open();
        opening.fail(Failure.of(Cause.CONNECT_FAILED, "refused"));
        attempt.abandon(GONE);
        assertThat(told).containsExactly("attempt failed: connect_failed");
        assertThat(opening.cancelled).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"CLIENT_CLOSED, false", "UPSTREAM_TIMEOUT, true"})
    void anOpeningThatIsGivenUpIsCancelledOrExpires(Cause cause, boolean expired) {
        FakeOpening opening = open();
        attempt.abandon(Failure.of(cause, "given up"));
        attempt.abandon(Failure.of(cause, "given up"));
        assertThat(opening.cancelled).isTrue();
        assertThat(opening.expired).isEqualTo(expired);
        opening.succeed(); // it may have been on its way
        assertThat(opening.stream.reset).isEqualTo(Attempt.ABANDONED);
        assertThat(told).isEmpty();
    }

    @Test
    void aStreamThatIsGivenUpIsReset() {
        FakeOpening opening = open();
        opening.succeed();
        attempt.abandon(GONE);
        attempt.abandon(GONE);
        assertThat(opening.stream.reset).isEqualTo(GONE);
    }

    @Test
    void oneThatIsGivenUpInsideTheCallThatOpensItIsCancelled() {
        opener.atOnce = opening -> attempt.abandon(GONE);
        assertThat(open().cancelled).isTrue();
    }

    @Test
    void oneThatIsOpenedInsideTheCallSaysSo() {
        opener.atOnce = FakeOpening::succeed;
        open();
        assertThat(attempt.isOpenedAtOnce()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "UPSTREAM_RESET_BEFORE_HEADERS, false, UPSTREAM_RESET_BEFORE_HEADERS",
        "UPSTREAM_RESET_BEFORE_HEADERS, true, UPSTREAM_RESET_IN_BODY",
        "UPSTREAM_RESET_IN_BODY, false, UPSTREAM_RESET_BEFORE_HEADERS",
        "UPSTREAM_RESET_IN_BODY, true, UPSTREAM_RESET_IN_BODY",
        "UPSTREAM_PROTOCOL_ERROR, true, UPSTREAM_PROTOCOL_ERROR"
    })
    void aResetIsNamedForHowFarTheResponseHasCome(Cause reported, boolean responding, Cause exact) {
        Failure failure = new Failure(reported, 502, RetrySafety.IF_IDEMPOTENT, true, "reset");
        Failure named = Attempt.exact(failure, responding);
        assertThat(named).isEqualTo(new Failure(exact, 502, RetrySafety.IF_IDEMPOTENT, true, "reset"));
    }
}
