package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.HealthSettings;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.AsciiString;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A filter asks a server of its own before it lets a request continue; the test plays that server, too. */
class FilterCallTest extends ExchangeRig {
    private static final int MOST_BYTES = 8;
    private static final long TIMEOUT = 1000;

    private final List<String> told = new ArrayList<>();
    private final Asking asking = new Asking();
    private Balancer balancing = request -> FIRST.equals(request.previous()) ? SECOND : FIRST;

    @Nullable
    private Upstream auth;

    /** Proceeds after any answer, and refuses without one. */
    private final class Asking implements Filter, UpstreamCall.Callback {
        private ByteBuf body = Unpooled.EMPTY_BUFFER;
        private String method = "GET";
        private String authority = "";
        private boolean safe;
        private boolean waits = true;
        private boolean throwsAtAnswer;
        private boolean keepsBody; // in place of that of the question
        private @Nullable FilterContext context;
        private @Nullable UpstreamCall call;

        @Override
        public Verdict onRequest(RequestHead head, FilterContext seen) {
            context = seen;
            RequestHead question = new RequestHead(
                    Method.of(method),
                    new AsciiString("http"),
                    new AsciiString(authority),
                    new AsciiString("/check"),
                    new Fields(),
                    body.isReadable() ? body.readableBytes() : RequestHead.UNKNOWN_LENGTH);
            call = seen.call(auth(), new UpstreamCall.Request(question, body, TIMEOUT, MOST_BYTES, safe), this);
            return waits ? new Verdict.Wait(() -> told.add("cancelled")) : Verdict.PROCEED;
        }

        private void resume(Verdict verdict) {
            if (context != null && waits) {
                context.resume(verdict);
            }
        }

        @Override
        public void onAnswer(UpstreamCall.Answer answer) {
            told.add(answer.head().status() + " " + answer.body().toString(StandardCharsets.UTF_8)
                    + (answer.whole() ? "" : "...")
                    + (answer.trailers() == null ? "" : " " + answer.trailers()));
            if (keepsBody) {
                body = answer.body();
            } else {
                answer.body().release();
            }
            if (throwsAtAnswer) {
                throw new IllegalStateException("a defect");
            }
            resume(Verdict.PROCEED);
        }

        @Override
        public void onFailure(Failure failure, int status) {
            told.add(failure.cause().label() + (status == 0 ? "" : " after " + status));
            resume(new Verdict.Refuse(Failure.of(Cause.NO_HEALTHY_ENDPOINT, failure.detail())));
        }
    }

    @BeforeEach
    void addFilter() {
        filters.add(asking);
    }

    private Upstream auth() {
        Upstream made = auth;
        if (made == null) {
            OutlierDetection counted = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 5, 1000, 1000, 100);
            Health states = new Health(
                    endpoints,
                    hosts -> balancing,
                    new HealthSettings(counted, null, 0, 0, null, closeOnFailure),
                    () -> now);
            made = new Upstream("auth", states, policy());
            auth = made;
        }
        return made;
    }

    private void answer(int status) {
        opener.last().events.onHead(response(status), true);
    }

    /** The request continues, and is answered. */
    private void finish() {
        opener.last().succeed();
        answer(200);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void aServerThatIsFoundNotToAnswerIsLeftForAnotherAtOnce() {
        get();
        opener.last().succeed();
        opener.last().events.onUnresponsive("refused");
        assertThat(opener.openings).hasSize(2);
        assertThat(opener.openings.get(0).stream.reset).isNotNull();
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        answer(200);
        assertThat(told).containsExactly("200 ");
        finish();
    }

    @Test
    void whatItMayHaveActedOnWaitsForIt() {
        asking.method = "POST";
        get();
        opener.last().succeed();
        opener.last().events.onUnresponsive("refused");
        assertThat(opener.openings).hasSize(1);
        answer(200);
        assertThat(told).containsExactly("200 ");
        finish();
    }

    @Test
    void orFailsAtOnceIfTheUpstreamSaysSo() {
        closeOnFailure = true;
        asking.method = "POST";
        get();
        opener.last().succeed();
        opener.last().events.onUnresponsive("refused");
        assertThat(told).containsExactly("upstream_timeout");
        assertThat(opener.last().stream.reset).isNotNull();
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    @Test
    void theRequestContinuesWhenTheAnswerHasCome() {
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("held"), true);
        assertThat(opener.openings).hasSize(1);
        opener.last().succeed();
        assertThat((CharSequence) upstream().head().path()).hasToString("/check");
        assertThat((CharSequence) upstream().head().authority()).hasToString("app.test:9000");
        assertThat(upstream().ended).isTrue();
        assertThat(upstream().unflushed).isZero();
        opener.last().events.onHead(response(103), false);
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("o"), false);
        opener.last().events.onData(Unpooled.EMPTY_BUFFER, false);
        opener.last().events.onData(bytes("k"), true);
        assertThat(told).containsExactly("200 ok");
        assertThat(opener.openings.get(0).stream.consumed).isEqualTo(2);
        assertThat(opener.openings.get(0).stream.reset).isNull();
        assertThat(opener.openings).hasSize(2);
        assertThat(client.consumed).as("credit for the body before").isZero();
        opener.last().succeed();
        assertThat((CharSequence) upstream().head().path()).hasToString("/");
        assertThat(upstream().body).hasToString("held");
        answer(200);
        assertThat(record().upstream).isEqualTo("app");
        assertThat(record().attempts).isEqualTo(1);
        assertThat(records.statuses).containsExactly(200, 200);
    }

    @Test
    void anAnswerMayEndWithTrailers() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("ok"), false);
        opener.last().events.onTrailers(Heads.fields("sum: 3"));
        assertThat(told).containsExactly("200 ok sum: 3\n");
        finish();
    }

    @Test
    void anAnswerMayComeInsideTheCall() {
        opener.atOnce = opening -> {
            opener.atOnce = null;
            opening.succeed();
            opening.events.onHead(response(204), true);
        };
        get();
        assertThat(told).containsExactly("204 ");
        finish();
    }

    @Test
    void aBodyIsSentWithEachAttempt() {
        asking.body = bytes("ask");
        asking.method = "POST";
        asking.authority = "auth.example";
        get();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("ask");
        assertThat((CharSequence) upstream().head().authority()).hasToString("auth.example");
        opener.last().events.onReset(stale(RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(upstream().body).hasToString("ask");
        answer(204);
        finish();
    }

    /** The connection is of no more use, and is not used again. */
    @Test
    void anAnswerThatIsTooLongIsCutOff() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(403), false);
        opener.last().events.onData(bytes("12345678"), false);
        assertThat(told).isEmpty();
        opener.last().events.onData(bytes("9"), false);
        assertThat(told).containsExactly("403 ...");
        assertThat(opener.openings.get(0).stream.reset).isNotNull();
        opener.openings.get(0).events.onData(bytes("late"), true);
        finish();
    }

    @Test
    void whatCannotBeReachedIsTriedElsewhere() {
        get();
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        assertThat((CharSequence) upstream().head().authority()).hasToString("app2.test:9000");
        answer(204);
        finish();
        assertThat(records.attempts).containsExactly("connect_failed again", "204", "200");
    }

    /** The filter decides what becomes of its request, which would wait itself. */
    @Test
    void whoCannotBeReachedIsNotWaitedFor() {
        useDefaults();
        assertThat(retry.connectMillis()).isPositive();
        get();
        for (int i = 0; i < 3; i++) { // at both, and once more
            assertThat(told).isEmpty();
            opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        }
        assertThat(told).containsExactly("connect_failed");
        assertThat(records.connectWaiting).isZero();
        assertThat(records.connectWaits).isEmpty();
        pass(500);
        assertThat(opener.openings).hasSize(3);
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    @Test
    void anErrorOfAGatewayIsTriedOnceMore() {
        get();
        opener.last().succeed();
        answer(503);
        assertThat(opener.openings).hasSize(2);
        opener.last().succeed();
        answer(503);
        assertThat(told).containsExactly("503 ");
        finish();
    }

    @Test
    void aResetIsTriedOnceMore() {
        get();
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(told).containsExactly("upstream_reset_before_headers");
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPostIsTriedAgainIfItIsSafe(boolean safe) {
        asking.body = bytes("ask");
        asking.method = "POST";
        asking.safe = safe;
        get();
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(opener.openings).hasSize(safe ? 2 : 1);
        assertThat(told).hasSize(safe ? 0 : 1);
        if (safe) {
            opener.last().succeed();
            assertThat(upstream().body).hasToString("ask");
            answer(204);
            finish();
        }
    }

    @Test
    void anAnswerThatBreaksOffIsNone() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("half"), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(told).containsExactly("upstream_reset_in_body after 200");
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    @Test
    void anotherProtocolIsNoAnswer() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(101), false);
        assertThat(told).containsExactly("upstream_protocol_error");
        assertThat(upstream().reset).isNotNull();
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    @Test
    void withoutAnEndpointThereIsNoAnswer() {
        balancing = request -> null;
        get();
        assertThat(told).containsExactly("no_healthy_endpoint");
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    @Test
    void aBalancerThatThrowsIsNoAnswer() {
        balancing = request -> {
            throw new IllegalStateException("a defect");
        };
        get();
        assertThat(told).containsExactly("unknown");
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    /** A server of gRPC knows the time from the call, and may be sooner than the gateway's timer. */
    @ParameterizedTest
    @CsvSource({"-1, upstream_reset_before_headers", "0, upstream_timeout", "5, upstream_timeout"})
    void aServerThatResetsTheCallWhenItsTimeIsOverHasTakenTooLong(long after, String cause) {
        asking.method = "POST";
        get();
        opener.last().succeed();
        now += TimeUnit.MILLISECONDS.toNanos(TIMEOUT + after);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.NEVER));
        assertThat(told).containsExactly(cause);
        assertThat(record().detail.contains("no whole answer in 1000 ms")).isEqualTo(after >= 0);
        pass(100);
        assertThat(told).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aServerThatTakesTooLongIsGivenUpAndBlamed(boolean connected) {
        get();
        FakeOpening opening = opener.last();
        if (connected) {
            opening.succeed();
        }
        pass(TIMEOUT - 20);
        assertThat(told).isEmpty();
        pass(40);
        assertThat(told).containsExactly("upstream_timeout");
        assertThat(opening.expired).isEqualTo(!connected);
        assertThat(opening.stream.reset != null).isEqualTo(connected);
        assertThat(auth().host(FIRST).isFailing()).isEqualTo(connected);
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatLeavesEndsTheCall(boolean connected) {
        StreamEvents events = get();
        FakeOpening opening = opener.last();
        if (connected) {
            opening.succeed();
            opening.events.onHead(response(200), false);
            opening.events.onData(bytes("part"), false);
        }
        events.onReset(GONE);
        assertThat(told).containsExactly("cancelled");
        assertThat(opening.cancelled).isEqualTo(!connected);
        assertThat(opening.stream.reset != null).isEqualTo(connected);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
        assertThat(record().upstream).isEmpty();
    }

    @Test
    void aFilterMayGiveItUp() {
        get();
        FakeOpening opening = opener.last();
        UpstreamCall begun = Objects.requireNonNull(asking.call);
        begun.cancel();
        begun.cancel();
        assertThat(opening.cancelled).isTrue();
        assertThat(told).isEmpty();
        asking.resume(Verdict.PROCEED);
        finish();
    }

    @Test
    void whatNobodyWaitsForEndsWithTheExchange() {
        asking.waits = false;
        get();
        assertThat(opener.openings).hasSize(2);
        finish();
        assertThat(opener.openings.get(0).cancelled).isTrue();
        assertThat(told).isEmpty();
    }

    @Test
    void aCallbackThatThrowsFailsTheExchange() {
        asking.throwsAtAnswer = true;
        get();
        opener.last().succeed();
        answer(200);
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void withoutMemoryForItThereIsNoAnswer() {
        client.account = new Account(new LoopBudget(new MemoryBudget(Cost.EXCHANGE + 1024, 1)));
        get();
        assertThat(told).containsExactly("overload");
        assertThat(opener.openings).isEmpty();
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    /** It may go to the client, who may take long to read it. */
    @Test
    void anAnswerIsChargedUntilItIsReleased() {
        LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
        client.account = new Account(new LoopBudget(new MemoryBudget(1 << 20, 1)), direct);
        asking.keepsBody = true;
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last()
                .events
                .onData(UnpooledByteBufAllocator.DEFAULT.directBuffer(8).writeZero(5), false);
        opener.last()
                .events
                .onData(UnpooledByteBufAllocator.DEFAULT.directBuffer(8).writeZero(3), true);
        finish();
        assertThat(direct.held()).isEqualTo(8 + 3);
        assertThat(client.account.held()).isPositive();
        ByteBuf part = asking.body.readRetainedSlice(2);
        asking.body.release();
        assertThat(direct.held()).isEqualTo(8 + 3);
        part.release();
        assertThat(direct.held()).isZero();
        assertThat(client.account.held()).isZero();
    }

    /** The request may wait for long, and what the call held is charged no more. */
    @Test
    void nothingIsKeptOfACallThatIsOver() {
        get();
        WeakReference<ResponseHead> answer = answerAndForget();
        for (int i = 0; i < 10 && answer.get() != null; i++) {
            System.gc();
        }
        assertThat(answer.get()).isNull();
        finish();
    }

    private WeakReference<ResponseHead> answerAndForget() {
        FakeOpening opening = opener.openings.remove(0);
        opening.succeed();
        ResponseHead head = response(200);
        asking.call = null;
        opening.events.onHead(head, true);
        return new WeakReference<>(head);
    }

    @Test
    void anAnswerWithAnEndlessHeadIsNone() {
        get();
        opener.last().succeed();
        ResponseHead head = response(200);
        head.fields().add(FieldName.SET_COOKIE, "c".repeat(33_000));
        opener.last().events.onHead(head, true);
        assertThat(told).containsExactly("upstream_protocol_error after 200");
    }

    @Test
    void whatTheClientHoldsCountsForTheServerThatIsWaitedFor() {
        get();
        assertThat(auth().waiting().held()).isGreaterThan(Cost.EXCHANGE + Cost.CALL);
        opener.last().succeed();
        answer(204);
        assertThat(auth().waiting().held()).isZero();
        finish();
    }
}
