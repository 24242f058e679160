package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.Fakes.FakeClientStream;
import dev.gateway.filter.BodyInspector;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client sends after its head, from its own stream to that of an attempt. */
class RequestBodyTest extends PartRig {
    private final RequestBody body;
    private final Attempt attempt;

    RequestBodyTest() {
        settings.maxBody = 8;
        body = exchange().request;
        attempt = new Attempt(caller, exchange().response);
    }

    @AfterEach
    void end() {
        exchange().onReset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
    }

    private void assertFailed(Cause cause) {
        assertThat(records.completed).extracting(record -> record.cause).containsExactly(cause);
    }

    private void send() {
        requested();
        body.sendTo(attempt, upstream, 1024);
    }

    /** Another attempt takes the place of the one that runs. */
    private FakeClientStream sendAgain() {
        attempt.finish();
        exchange().state.on(Event.RETRY);
        exchange().state.on(Event.BACKED_OFF);
        exchange().state.on(Event.OPENED);
        FakeClientStream next = new FakeClientStream();
        body.sendTo(new Attempt(caller, exchange().response), next, 1024);
        return next;
    }

    private static Fields trailers() {
        Fields trailers = new Fields();
        trailers.add(FieldName.of("x-sum"), "1");
        return trailers;
    }

    @Test
    void aRequestThatIsAHeadAndNoMoreEndsWithIt() {
        body.completeAtOnce();
        assertThat(body.hasBegun()).isFalse();
        send();
        assertThat(upstream.ended).isTrue();
        assertThat(exchange().state.isRequestEnded()).isTrue();
    }

    @Test
    void whatIsKeptForAnotherAttemptIsChargedAsDirectMemory() {
        send();
        long heap = budget.held();
        body.onData(bytes("ab"), false);
        assertThat(bodies.held()).isPositive();
        assertThat(budget.held()).isEqualTo(heap);
        body.onResponse();
        assertThat(bodies.held()).isZero();
    }

    /** Both hold the same buffer. */
    @Test
    void whatIsKeptForAnotherAttemptAndWaitsInTheStreamIsChargedOnce() {
        RequestBody large = new RequestBody(exchange(), 0);
        requested();
        large.sendTo(attempt, upstream, 64 * 1024);
        upstream.writable = false;
        upstream.unsent = 6000;
        large.onData(bytes("x".repeat(6000)), false);
        assertThat(bodies.held()).isEqualTo(6000);
        large.onResponse();
        assertThat(bodies.held()).as("charged for the stream alone").isEqualTo(6000);
        large.discard();
        assertThat(bodies.held()).isZero();
    }

    @Test
    void whatComesBeforeThereIsAStreamIsHeldAndThenSent() {
        body.onData(bytes("ab"), false);
        body.onData(bytes("c"), true);
        assertThat(client.consumed).isZero();
        assertThat(body.isEmpty()).isFalse();
        send();
        assertThat(upstream.body).hasToString("abc");
        assertThat(upstream.ended).isTrue();
        assertThat(client.consumed).isEqualTo(3);
        assertThat(exchange().state.isRequestEnded()).isTrue();
        assertThat(exchange().record.receivedBytes).isEqualTo(3);
    }

    @Test
    void whatComesLaterIsPassedOnAndFlushedWhenAllWasRead() {
        send();
        body.onData(bytes("ab"), false);
        assertThat(upstream.flushes).isZero();
        body.onReadComplete();
        assertThat(upstream.flushes).isEqualTo(1);
        body.onData(bytes("c"), true);
        assertThat(upstream.body).hasToString("abc");
        assertThat(upstream.ended).isTrue();
    }

    @Test
    void anUpstreamWithoutRoomStallsIt() {
        send();
        upstream.writable = false;
        body.onData(bytes("ab"), false);
        assertThat(body.isStalled()).isTrue();
        assertThat(client.consumed).isZero();
        upstream.writable = true;
        body.credit();
        assertThat(body.isStalled()).isFalse();
        assertThat(client.consumed).isEqualTo(2);
    }

    @Test
    void aBodyMayHaveSoManyBytesAndNoMore() {
        send();
        body.onData(bytes("12345678"), false);
        assertThat(exchange().isDone()).isFalse();
        body.onData(bytes("9"), false);
        assertFailed(Cause.BODY_TOO_LARGE);
    }

    @Test
    void whatComesAfterTheEndIsDropped() {
        send();
        exchange().fail(Failure.of(Cause.UNKNOWN, "a defect"));
        body.onData(bytes("ab"), true);
        body.onTrailers(trailers());
        assertThat(upstream.body).isEmpty();
        assertThat(exchange().record.receivedBytes).isZero();
    }

    @Test
    void anotherAttemptSendsAllOfItAgain() {
        send();
        body.onData(bytes("ab"), false);
        body.onTrailers(trailers());
        assertThat(upstream.trailers).hasToString("x-sum: 1\n");
        assertThat(body.isReplayable()).isTrue();
        FakeClientStream next = sendAgain();
        assertThat(next.body).hasToString("ab");
        assertThat(next.trailers).hasToString("x-sum: 1\n");
        assertThat(client.consumed).isEqualTo(2);
        assertThat(exchange().state.isRequestEnded()).isTrue();
    }

    @Test
    void trailersAreHeldWithTheBytesBeforeThem() {
        body.onData(bytes("ab"), false);
        body.onTrailers(trailers());
        send();
        assertThat(upstream.body).hasToString("ab");
        assertThat(upstream.trailers).hasToString("x-sum: 1\n");
    }

    @Test
    void onceThereIsAResponseNothingIsKeptForAnotherAttempt() {
        send();
        body.onData(bytes("ab"), false);
        body.onResponse();
        assertThat(body.isReplayable()).isFalse();
        assertThat(buffers.get(0).refCnt()).isZero();
    }

    @Test
    void anInspectorHoldsItUntilItHasSeenEnough() {
        assertThat(body.passes((soFar, last) -> soFar.readableBytes() < 3 ? BodyInspector.MORE : BodyInspector.PASS))
                .isTrue();
        send();
        body.onData(bytes("ab"), false);
        assertThat(upstream.body).isEmpty();
        body.onData(bytes("c"), false);
        assertThat(upstream.body).hasToString("abc");
        body.onData(bytes("d"), false);
        assertThat(upstream.body).hasToString("abcd");
    }

    @Test
    void anInspectorMayRefuseWhatHasComeAlready() {
        body.onData(bytes("ab"), false);
        Failure refusal = Failure.of(Cause.AUTHZ_DENIED, "no");
        assertThat(body.passes((soFar, last) -> new BodyInspector.Refuse(refusal)))
                .isFalse();
        assertFailed(Cause.AUTHZ_DENIED);
    }

    @Test
    void anInspectorThatWantsMoreThanThereIsHasADefect() {
        body.completeAtOnce();
        assertThat(body.passes((soFar, last) -> BodyInspector.MORE)).isFalse();
        assertFailed(Cause.UNKNOWN);
    }

    @Test
    void nothingOvertakesWhatIsHeld() {
        body.onData(bytes("a"), false);
        upstream.onNextCall = () -> body.onData(bytes("b"), false); // as the head is sent
        send();
        assertThat(upstream.body).hasToString("ab");
    }

    @Test
    void aTooLargePartOfWhatIsLeftIsNotHeld() {
        body.onData(bytes("a".repeat(1 << 16)), false);
        assertFailed(Cause.OVERLOAD);
    }
}
