package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.route.Route;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.InspectionContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Exchanges whose bodies filters transform. */
class TransformedExchangeTest extends ExchangeRig {
    private final List<FakeTransform> transforms = new ArrayList<>();
    private final List<String> asked = new ArrayList<>();

    @AfterEach
    void everyTransformIsClosedOnce() {
        assertThat(transforms).allSatisfy(each -> {
            assertThat(each.closed).isEqualTo(1);
            assertThat(each.made).allSatisfy(piece -> assertThat(piece.refCnt()).isZero());
        });
    }

    private final class Transforming implements Filter {
        private final @Nullable Supplier<FakeTransform> request;
        private final @Nullable Supplier<FakeTransform> response;

        Transforming(@Nullable Supplier<FakeTransform> request, @Nullable Supplier<FakeTransform> response) {
            this.request = request;
            this.response = response;
        }

        @Override
        public @Nullable BodyTransform requestBody(RequestHead head, FilterContext context) {
            asked.add("request");
            head.forgetLength();
            return make(request);
        }

        @Override
        public @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
            asked.add("response " + head.status() + (last ? " without a body" : ""));
            head.forgetLength();
            return last ? null : make(response);
        }

        private @Nullable BodyTransform make(@Nullable Supplier<FakeTransform> of) {
            if (of == null) {
                return null;
            }
            FakeTransform made = of.get();
            transforms.add(made);
            return made;
        }
    }

    private void transformRequest(Supplier<FakeTransform> by) {
        filters.add(new Transforming(by, null));
    }

    private void transformResponse(Supplier<FakeTransform> by) {
        filters.add(new Transforming(null, by));
    }

    /** The upstream resets the current attempt before its response. The gateway may retry it. */
    private void resetAttempt() {
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
    }

    private void answer(String body) {
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes(body), true);
    }

    // ---- requests

    @Test
    void theUpstreamGetsWhatTheBodyBecomes() {
        transformRequest(() -> FakeTransform.repeating(2));
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("ab"), false);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("aabb");
        events.onData(bytes("c"), true);
        events.onReadComplete();
        assertThat(upstream().body).hasToString("aabbcc");
        assertThat(upstream().ended).isTrue();
        assertThat(upstream().unflushed).isZero();
        assertThat(client.consumed).isEqualTo(3);
        answer("ok");
        assertThat(record().receivedBytes).isEqualTo(3);
    }

    @Test
    void theLengthThatWasAnnouncedIsForgotten() {
        transformRequest(() -> FakeTransform.repeating(2));
        route();
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_LENGTH, "1");
        RequestHead head = new RequestHead(
                Method.of("POST"), Scheme.HTTP, new AsciiString("shop.example.com"), new AsciiString("/"), fields, 1);
        StreamEvents events = handler().onRequest(client, head, false);
        opener.last().succeed();
        assertThat(upstream().head().contentLength()).isEqualTo(RequestHead.UNKNOWN_LENGTH);
        assertThat(upstream().head().fields().contains(FieldName.CONTENT_LENGTH))
                .isFalse();
        events.onData(bytes("a"), true);
        answer("ok");
    }

    @Test
    void aFilterThatLimitsABodyOfWhichMoreHasComeEndsTheExchangeAndItsTransform() {
        FilterContext[] waiting = new FilterContext[1];
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                waiting[0] = context;
                return new Verdict.Wait(() -> {});
            }

            @Override
            public BodyTransform requestBody(RequestHead head, FilterContext context) {
                FakeTransform made = FakeTransform.repeating(1);
                transforms.add(made);
                context.limitRequestBody(2, "a filter");
                return made;
            }
        });
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("abc"), false);
        waiting[0].resume(Verdict.PROCEED);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(opener.openings).isEmpty();
        assertThat(transforms).hasSize(1);
    }

    /** Such as a small body that decompresses to a large one: the client sends nothing meanwhile. */
    @Test
    void anUpstreamThatReadsWhatABodyBecomesIsNotLate() {
        responseHeadersMillis = 100;
        transformRequest(() -> FakeTransform.repeating(2));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().onNextCall = () -> upstream().writable = false; // each piece fills it
        events.onData(bytes("abcdefghij"), true);
        events.onReadComplete();
        for (int i = 1; i < 10; i++) {
            pass(60);
            assertThat(client.status()).as("after %s pieces", i).isZero();
            upstream().writable = true;
            upstream().onNextCall = () -> upstream().writable = false;
            opener.last().events.onWritable();
        }
        assertThat(upstream().body).hasToString("aabbccddeeffgghhiijj");
        answer("ok");
        assertThat(client.status()).isEqualTo(200);
    }

    @Test
    void aRequestWithoutABodyIsNotTransformed() {
        transformRequest(() -> FakeTransform.repeating(2));
        get();
        opener.last().succeed();
        assertThat(upstream().ended).isTrue();
        answer("ok");
        assertThat(asked).containsExactly("response 200");
    }

    @Test
    void aTunnelIsNotTransformed() {
        filters.add(new Transforming(() -> FakeTransform.repeating(2), () -> FakeTransform.repeating(2)));
        StreamEvents events = tunnel();
        events.onData(bytes("ab"), false);
        opener.last().events.onData(bytes("cd"), false);
        assertThat(upstream().body).hasToString("ab");
        assertThat(client.body).hasToString("cd");
        close(events);
        assertThat(asked).isEmpty();
    }

    @Test
    void aClientGetsCreditForWhatTheUpstreamHasTaken() {
        transformRequest(() -> FakeTransform.repeating(3));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().onNextCall = () -> upstream().writable = false; // the first piece fills it
        events.onData(bytes("ab"), false);
        assertThat(upstream().body).hasToString("aaa");
        assertThat(client.consumed).isZero();
        upstream().writable = true;
        opener.last().events.onWritable();
        assertThat(upstream().body).hasToString("aaabbb");
        assertThat(upstream().unflushed).isZero();
        assertThat(client.consumed).isEqualTo(2);
        events.onData(bytes("c"), true);
        answer("ok");
    }

    /** It would be in the middle of a frame or chunk. */
    @Test
    void nothingIsFlushedInsideOfACallThatPassesSomethingOn() {
        filters.add(new Transforming(() -> FakeTransform.repeating(2), () -> FakeTransform.repeating(2)));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onReadComplete();
        int flushes = upstream().flushes;
        upstream().onNextCall = () -> opener.last().events.onWritable();
        events.onData(bytes("abc"), false);
        assertThat(upstream().body).hasToString("aabbcc");
        assertThat(upstream().flushes).isEqualTo(flushes);
        events.onData(bytes("d"), true);
        events.onReadComplete();
        assertThat(upstream().flushes).isEqualTo(flushes + 1);

        opener.last().events.onHead(response(200), false);
        client.onNextCall = events::onWritable;
        opener.last().events.onData(bytes("xyz"), false);
        assertThat(client.body).hasToString("xxyyzz");
        assertThat(client.flushes).isZero();
        opener.last().events.onData(Unpooled.EMPTY_BUFFER, true);
        assertThat(client.flushes).isEqualTo(1);
    }

    @Test
    void whatWaitsFollowsAllThatIsSentAgain() {
        transformRequest(() -> FakeTransform.repeating(2));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().onNextCall = () -> upstream().writable = false;
        events.onData(bytes("ab"), true);
        assertThat(upstream().body).hasToString("aa");
        resetAttempt();
        upstream().onNextCall = () -> opener.last().events.onWritable(); // as the head is written
        opener.last().succeed();
        assertThat(upstream().body).hasToString("aabb");
        assertThat(upstream().ended).isTrue();
        answer("ok");
    }

    @Test
    void trailersFollowWhatTheBodyBecomes() {
        transformRequest(FakeTransform::gathering);
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("ab"), false);
        Fields trailers = new Fields();
        trailers.add(FieldName.of("x-sum"), "1");
        events.onTrailers(trailers);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("[ab]");
        assertThat(upstream().trailers).hasToString("x-sum: 1\n");
        answer("ok");
    }

    @Test
    void whatIsSentAgainIsWhatTheUpstreamGotAndNotTransformedTwice() {
        transformRequest(() -> FakeTransform.repeating(2));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("ab"), false);
        resetAttempt();
        events.onData(bytes("c"), false);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("aabbcc");
        events.onData(bytes("d"), true);
        assertThat(upstream().body).hasToString("aabbccdd");
        resetAttempt();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("aabbccdd");
        assertThat(upstream().ended).isTrue();
        assertThat(client.consumed).isEqualTo(4);
        answer("ok");
        assertThat(asked).containsExactly("request", "response 200");
    }

    @Test
    void whatWaitsForRoomGoesOnWithAnotherAttempt() {
        transformRequest(() -> FakeTransform.repeating(2));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().onNextCall = () -> upstream().writable = false;
        events.onData(bytes("ab"), true);
        assertThat(upstream().body).hasToString("aa");
        resetAttempt();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("aabb");
        assertThat(upstream().ended).isTrue();
        assertThat(client.consumed).isEqualTo(2);
        answer("ok");
    }

    @Test
    void trailersAreSentAgainToo() {
        transformRequest(FakeTransform::gathering);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        events.onTrailers(new Fields());
        resetAttempt();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("[a]");
        assertThat(upstream().trailers).isNotNull();
        answer("ok");
    }

    @Test
    void aBodyThatBecomesNothingIsSentAgainAsNothing() {
        transformRequest(FakeTransform::swallowing);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), true);
        assertThat(upstream().ended).isTrue();
        resetAttempt();
        opener.last().succeed();
        assertThat(upstream().body).isEmpty();
        assertThat(upstream().ended).isTrue();
        answer("ok");
    }

    @Test
    void aRequestThatCannotBeTransformedIsAnswered() {
        transformRequest(() -> FakeTransform.repeating(1));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a!"), false);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(upstream().reset).isNotNull();
        assertThat(upstream().ended).isFalse();
        events.onData(bytes("b"), true);
    }

    @Test
    void aRequestThatCannotBeTransformedIsCutOnceTheResponseHasBegun() {
        transformRequest(() -> FakeTransform.repeating(1));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        events.onData(bytes("a!"), false);
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.BODY_TOO_LARGE);
        assertThat(record().cause).isEqualTo(Cause.BODY_TOO_LARGE);
    }

    @Test
    void aTransformThatThrowsFailsItsExchangeAlone() {
        transformRequest(() -> FakeTransform.repeating(1));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a?"), false);
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aClientThatLeavesHasTheTransformClosed() {
        transformRequest(() -> FakeTransform.repeating(2));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().onNextCall = () -> upstream().writable = false;
        events.onData(bytes("ab"), false);
        events.onReset(GONE);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void aRequestThatNeverReachesAnUpstreamHasTheTransformClosed() {
        transformRequest(() -> FakeTransform.repeating(2));
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("ab"), false);
        events.onReset(GONE);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void anInspectorSeesWhatTheClientSends() {
        transformRequest(() -> FakeTransform.repeating(2));
        List<String> seen = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public BodyInspector inspector(RequestHead head, InspectionContext context) {
                return (soFar, last) -> {
                    seen.add(soFar.toString(StandardCharsets.UTF_8));
                    return soFar.readableBytes() < 2 ? BodyInspector.MORE : BodyInspector.PASS;
                };
            }
        });
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        assertThat(upstream().body).isEmpty();
        events.onData(bytes("b"), true);
        assertThat(upstream().body).hasToString("aabb");
        assertThat(seen).containsExactly("a", "ab");
        answer("ok");
    }

    // ---- responses

    @Test
    void theClientGetsWhatTheBodyBecomes() {
        transformResponse(FakeTransform::gathering);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("ab"), false);
        assertThat(client.body).isEmpty();
        opener.last().events.onReadComplete();
        assertThat(client.body).hasToString("[ab]");
        assertThat(client.unflushed).isZero();
        opener.last().events.onData(bytes("c"), true);
        assertThat(client.body).hasToString("[ab][c]");
        assertThat(client.ended).isTrue();
        assertThat(client.unflushed).isZero();
        assertThat(upstream().consumed).isEqualTo(3);
        assertThat(record().sentBytes).isEqualTo(7);
    }

    @Test
    void anUpstreamGetsCreditForWhatTheClientHasTaken() {
        transformResponse(() -> FakeTransform.repeating(3));
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.onNextCall = () -> client.writable = false;
        opener.last().events.onData(bytes("ab"), false);
        assertThat(client.body).hasToString("aaa");
        assertThat(upstream().consumed).isZero();
        client.writable = true;
        events.onWritable();
        assertThat(client.body).hasToString("aaabbb");
        assertThat(client.unflushed).isZero();
        assertThat(upstream().consumed).isEqualTo(2);
        opener.last().events.onData(Unpooled.EMPTY_BUFFER, true);
        assertThat(client.ended).isTrue();
    }

    @Test
    void theExchangeLastsUntilTheClientHasRoomForAll() {
        transformResponse(() -> FakeTransform.repeating(2));
        StreamEvents events = get();
        opener.last().succeed();
        client.onNextCall = () -> client.writable = false;
        answer("ab");
        assertThat(client.body).as("the head has filled it").isEmpty();
        assertThat(records.completed).isEmpty();
        client.writable = true;
        events.onWritable();
        assertThat(client.body).hasToString("aabb");
        assertThat(client.ended).isTrue();
        assertThat(client.unflushed).isZero();
        assertThat(record().cause).isNull();
        assertThat(upstream().reset).isNull();
    }

    @Test
    void noAttemptIsBlamedForAClientThatIsSlow() {
        transformResponse(() -> FakeTransform.repeating(2));
        timeouts = new Route.Timeouts(0, 100, 0, TunnelTimeouts.NONE);
        StreamEvents events = get();
        opener.last().succeed();
        client.onNextCall = () -> client.writable = false;
        answer("ab");
        pass(300);
        assertThat(records.completed).isEmpty();
        client.writable = true;
        events.onWritable();
        assertThat(record().cause).isNull();
    }

    @Test
    void trailersOfAResponseFollowWhatTheBodyBecomes() {
        transformResponse(FakeTransform::gathering);
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.writable = false;
        opener.last().events.onData(bytes("ab"), false);
        Fields trailers = new Fields();
        trailers.add(FieldName.of("x-sum"), "1");
        opener.last().events.onTrailers(trailers);
        assertThat(client.trailers).isNull();
        client.writable = true;
        events.onWritable();
        assertThat(client.body).hasToString("[ab]");
        assertThat(client.trailers).hasToString("x-sum: 1\n");
        assertThat(record().cause).isNull();
    }

    @Test
    void transformsOfResponsesAreInTheOrderInWhichFiltersSeeThem() {
        transformResponse(FakeTransform::gathering);
        transformResponse(() -> FakeTransform.repeating(2));
        get();
        opener.last().succeed();
        answer("ab");
        assertThat(client.body).hasToString("[aabb]");
    }

    @Test
    void aResponseWithoutABodyIsNotTransformed() {
        transformResponse(FakeTransform::gathering);
        request("HEAD", "/", true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(asked).containsExactly("response 200 without a body");
        assertThat(client.ended).isTrue();
        assertThat(client.body).isEmpty();
    }

    @Test
    void anAnswerOfTheGatewayIsNotTransformed() {
        transformResponse(FakeTransform::gathering);
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return new Verdict.Reply(response(200), bytes("hello"));
            }
        });
        get();
        assertThat(client.body).hasToString("hello");
        assertThat(asked).isEmpty();
    }

    @Test
    void aResponseThatCannotBeTransformedIsCut() {
        transformResponse(() -> FakeTransform.repeating(1));
        get();
        opener.last().succeed();
        answer("a!");
        assertThat(client.reset).isNotNull();
        assertThat(client.ended).isFalse();
        assertThat(record().cause).isEqualTo(Cause.BODY_TOO_LARGE);
    }

    @Test
    void anUpstreamThatBreaksOffHasTheResponseCut() {
        transformResponse(FakeTransform::gathering);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("ab"), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.NEVER));
        assertThat(client.reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_RESET_IN_BODY);
    }

    @Test
    void aClientThatLeavesEndsAResponse() {
        transformResponse(() -> FakeTransform.repeating(2));
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.onNextCall = () -> client.writable = false;
        opener.last().events.onData(bytes("ab"), false);
        events.onReset(GONE);
        assertThat(upstream().reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void aResponseThatEndsFirstEndsTheRequest() {
        filters.add(new Transforming(() -> FakeTransform.repeating(2), () -> FakeTransform.repeating(2)));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        answer("no");
        assertThat(client.body).hasToString("nnoo");
        assertThat(upstream().reset).isNotNull();
        assertThat(record().cause).isNull();
        events.onData(bytes("b"), true);
        assertThat(upstream().body).hasToString("aa");
    }

    // ---- filters that throw, and limits

    private static Filter throwing(boolean request) {
        return new Filter() {
            @Override
            public @Nullable BodyTransform requestBody(RequestHead head, FilterContext context) {
                if (request) {
                    throw new IllegalStateException("a defect");
                }
                return null;
            }

            @Override
            public @Nullable BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
                throw new IllegalStateException("a defect");
            }
        };
    }

    @Test
    void aFilterThatThrowsHasTheTransformsBeforeItClosed() {
        transformRequest(() -> FakeTransform.repeating(2));
        filters.add(throwing(true));
        request("POST", "/", false).onReadComplete();
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aFilterThatThrowsAtTheResponseIsAnswered() {
        filters.add(throwing(false));
        transformResponse(FakeTransform::gathering);
        get().onReadComplete();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        assertAnswered(500, Cause.UNKNOWN);
        opener.last().events.onData(bytes("late"), true);
    }

    private static Filter limiting(long most) {
        return new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.limitRequestBody(most, "the test");
                return Verdict.PROCEED;
            }
        };
    }

    @Test
    void aFilterLimitsABodyAndTheSmallestLimitCounts() {
        settings.maxBody = 8;
        filters.add(limiting(3));
        filters.add(limiting(5));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("abc"), false);
        assertThat(client.heads).isEmpty();
        events.onData(bytes("d"), false);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(record().detail).isEqualTo("a body of more than 3 bytes (the test)");
    }

    @Test
    void aLimitHoldsForWhatCameBeforeIt() {
        List<FilterContext> waiting = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                waiting.add(context);
                return new Verdict.Wait(() -> {});
            }
        });
        filters.add(limiting(3));
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("abcd"), false);
        waiting.get(0).resume(Verdict.PROCEED);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(opener.openings).isEmpty();
        assertThat(records.begun).isEqualTo(1);
    }

    @Test
    void whatAFilterHoldsIsChargedUntilTheEnd() {
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                long before = client.account.held();
                assertThat(context.tryHold(1000, true)).isTrue();
                assertThat(context.tryHold(500, false)).isTrue();
                assertThat(context.tryHold(1L << 50, true)).isFalse();
                assertThat(context.tryHold(1L << 50, false)).isFalse();
                assertThat(client.account.held()).isEqualTo(before + 1500);
                return Verdict.PROCEED;
            }
        });
        List<FilterContext> left = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public void onEnd(FilterContext context) {
                left.add(context);
                assertThat(context.tryHold(1, true))
                        .as("nobody would give it back")
                        .isFalse();
            }
        });
        get();
        opener.last().succeed();
        answer("ok");
        assertThat(client.account.held()).isZero();
        assertThat(left).singleElement().satisfies(context -> assertThat(context.tryHold(1, false))
                .isFalse());
        assertThat(client.account.held()).isZero();
    }

    // ---- review

    /** It came before there was a stream, so no read-complete follows that would say that the client pauses. */
    @Test
    void whatWasHeldUntilTheStreamOpenedIsNotKeptByATransform() {
        transformRequest(FakeTransform::gathering);
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("ab"), false);
        events.onReadComplete();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("[ab]");
        assertThat(upstream().unflushed).isZero();
        events.onData(bytes("c"), true);
        answer("ok");
    }

    @Test
    void whatGoesOnWithAnotherAttemptInsideOfACallIsFlushed() {
        transformRequest(() -> FakeTransform.repeating(1));
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("abc"), true);
        events.onReadComplete();
        opener.atOnce = Fakes.FakeOpening::succeed;
        opener.last().stream.onNextCall =
                () -> // as the head is written
                opener.openings.get(0).stream.onNextCall = () -> opener.openings
                        .get(0)
                        .events
                        .onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.openings.get(0).succeed();
        assertThat(opener.openings).hasSize(2);
        assertThat(upstream().body).hasToString("abc");
        assertThat(upstream().ended).isTrue();
        assertThat(upstream().unflushed).isZero();
        answer("ok");
    }

    @Test
    void trailersGoOnceToAnotherAttemptThatBeginsInsideOfACall() {
        transformRequest(FakeTransform::gathering);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("ab"), false);
        opener.atOnce = Fakes.FakeOpening::succeed;
        upstream().onNextCall = () ->
                opener.openings.get(0).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        events.onTrailers(new Fields());
        events.onReadComplete();
        assertThat(opener.openings).hasSize(2);
        assertThat(upstream().body).hasToString("[ab]");
        assertThat(upstream().trailers).isNotNull();
        assertThat(client.reset).isNull();
        assertThat(client.heads).isEmpty();
        answer("ok");
    }

    @Test
    void aTransformWithoutMemoryFailsItsExchangeAlone() {
        filters.add(new Filter() {
            @Override
            public BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
                return new BodyTransform() {
                    @Override
                    public Result transform(io.netty.buffer.ByteBuf in, Input input) {
                        throw new OutOfMemoryError("none is left");
                    }

                    @Override
                    public void close() {}
                };
            }
        });
        get();
        opener.last().succeed();
        try {
            answer("ab");
        } catch (OutOfMemoryError e) {
            throw new AssertionError("it reached the connection", e);
        }
        assertThat(client.reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.OVERLOAD);
    }

    @Test
    void aBodyThatIsTooLargeAsAWholeNeverReachesTheUpstream() {
        filters.add(limiting(3));
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("abcd"), true);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(upstream().ended).isFalse();
        assertThat(upstream().body).isEmpty();
    }

    @Test
    void aBodyThatIsTooLargeAsAWholeNeverReachesATransform() {
        filters.add(limiting(3));
        transformRequest(FakeTransform::gathering);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("abcd"), true);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(upstream().ended).isFalse();
    }
}
