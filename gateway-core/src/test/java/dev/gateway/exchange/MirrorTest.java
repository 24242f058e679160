package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.OverloadConfig;
import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.config.route.RetryConfig;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.Fakes.FakeClientStream;
import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.body.MirroredBody;
import dev.gateway.exchange.route.RetryValues;
import dev.gateway.exchange.route.Route;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.MirrorResult;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.mirror.MirrorTally;
import dev.gateway.filter.mirror.RequestMirror;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.trace.Trace;
import dev.gateway.observe.trace.TraceValues;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.Pressure;
import dev.gateway.overload.Resource;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that are also sent to another upstream; the test plays that one, too. */
class MirrorTest extends ExchangeRig {
    private static final Endpoint NEXT = new Endpoint(0, "next.test", 9000, 1);
    private static final Endpoint THIRD = new Endpoint(0, "third.test", 9000, 1);
    private static final long ANSWER_MILLIS = 5000;

    private final MirrorTally tally = new MirrorTally();
    private Balancer balancing = request -> NEXT;

    @Nullable
    private Upstream next;

    MirrorTest() {
        gate = gate(1L << 30, 1L << 30);
    }

    private static LoopGate gate(long heap, long bodies) {
        return new LoopGate(
                new Overload(), new LoopBudget(new MemoryBudget(heap, 1)), new LoopBudget(new MemoryBudget(bodies, 1)));
    }

    @AfterEach
    void copiesLeaveNothingBehind() {
        assertThat(tally.active()).as("copies in progress").isZero();
        assertThat(handler().loop.mirrors.held()).as("bytes held for copies").isZero();
        assertThat(handler().loop.mirrors.waitingBodies().held()).isZero();
        assertThat(StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
    }

    private Upstream next() {
        Upstream made = next;
        if (made == null) {
            OutlierDetection counted = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 1, 1000, 1000, 100);
            made = new Upstream(
                    "next", new Health(List.of(NEXT), hosts -> balancing, counted, null, () -> now), policy());
            next = made;
        }
        return made;
    }

    private void mirror() {
        responseHeadersMillis = ANSWER_MILLIS;
        filters.add(new RequestMirror(new MirrorTarget(next(), tally), 1, 1, bound -> bound - 1));
    }

    /** Begins a request with a body. It and its copy have streams. */
    private StreamEvents mirroredPost() {
        mirror();
        StreamEvents events = request("POST", "/", false);
        primary().succeed();
        copy().succeed();
        return events;
    }

    /** Makes a request without a body. It and its copy have streams. */
    private void mirroredGet() {
        mirror();
        get();
        primary().succeed();
        copy().succeed();
    }

    /** The read that brought the head ends with it. */
    @Override
    StreamEvents request(String method, String path, boolean last) {
        StreamEvents events = super.request(method, path, last);
        events.onReadComplete();
        return events;
    }

    private FakeOpening at(Endpoint endpoint) {
        List<FakeOpening> there = opener.openings.stream()
                .filter(opening -> opening.endpoint.equals(endpoint))
                .toList();
        assertThat(there).as("openings at " + endpoint).hasSize(1);
        return there.get(0);
    }

    private FakeOpening primary() {
        return at(FIRST);
    }

    private FakeOpening copy() {
        return at(NEXT);
    }

    private static void answer(FakeOpening opening, int status) {
        opening.events.onHead(response(status), true);
    }

    private void answerAll() {
        answer(copy(), 200);
        answer(primary(), 200);
    }

    private void assertResults(MirrorResult... results) {
        Map<MirrorResult, Long> expected = new EnumMap<>(MirrorResult.class);
        for (MirrorResult each : results) {
            expected.merge(each, 1L, Long::sum);
        }
        for (MirrorResult each : MirrorResult.values()) {
            assertThat(tally.ended(each)).as(each.label()).isEqualTo(expected.getOrDefault(each, 0L));
        }
    }

    private void assertServed() {
        assertThat(client.status()).isEqualTo(200);
        assertThat(client.reset).isNull();
        assertThat(record().cause).isNull();
        assertThat(record().upstream).isEqualTo("app");
    }

    // ---- what a copy has

    @Test
    void theOtherUpstreamGetsTheSameRequest() {
        mirror();
        StreamEvents events = request("POST", "/a?b", false);
        events.onData(bytes("one "), false);
        events.onReadComplete();
        assertThat(opener.openings)
                .as("nothing is copied before the request goes anywhere")
                .hasSize(1);
        primary().succeed();
        copy().succeed();
        assertThat(copy().stream.body).hasToString("one ");
        assertThat(copy().stream.unflushed).isZero();
        events.onData(bytes("two"), false);
        assertThat(copy().stream.unflushed).isEqualTo(1);
        events.onReadComplete();
        assertThat(copy().stream.unflushed).isZero();
        events.onData(bytes("!"), true);
        events.onReadComplete();
        for (FakeOpening each : opener.openings) {
            assertThat(each.stream.body).hasToString("one two!");
            assertThat(each.stream.ended).isTrue();
            assertThat(each.stream.unflushed).isZero();
            assertThat((CharSequence) each.stream.head().path()).hasToString("/a?b");
            assertThat((CharSequence) each.stream.head().authority()).hasToString("shop.example.com");
        }
        assertThat(client.consumed).isEqualTo(8);
        answerAll();
        assertServed();
        assertResults(MirrorResult.SUCCESS);
        assertThat(copy().stream.reset).isNull();
        assertThat(records.attempts).containsExactly("200", "200");
    }

    @Test
    void aRequestWithoutABodyIsCopied() {
        mirroredGet();
        assertThat(copy().stream.ended).isTrue();
        assertThat(copy().stream.unflushed).isZero();
        answerAll();
        assertServed();
        assertResults(MirrorResult.SUCCESS);
    }

    @Test
    void aBodyThatTurnsOutToBeEmptyEndsTheCopy() {
        StreamEvents events = mirroredPost();
        events.onData(Unpooled.EMPTY_BUFFER, true);
        events.onReadComplete();
        assertThat(copy().stream.ended).isTrue();
        assertThat(copy().stream.unflushed).isZero();
        answerAll();
        assertServed();
    }

    @Test
    void trailersAreCopiedAsTheyGoUpstream() {
        mirror();
        filters.add(new Filter() {
            @Override
            public void onRequestTrailers(Fields trailers, FilterContext context) {
                trailers.add(FieldName.of("x-added"), "1");
            }
        });
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("ab"), false);
        Fields trailers = new Fields();
        trailers.add(FieldName.of("x-sum"), "7");
        events.onTrailers(trailers);
        events.onReadComplete();
        primary().succeed();
        copy().succeed();
        assertThat(copy().stream.body).hasToString("ab");
        assertThat(copy().stream.trailers).isNotNull().hasToString(String.valueOf(primary().stream.trailers));
        assertThat(String.valueOf(copy().stream.trailers)).contains("x-sum: 7", "x-added: 1");
        assertThat(copy().stream.unflushed).isZero();
        answerAll();
        assertServed();
    }

    @Test
    void aCopyIsMadeOfWhatFiltersHaveMadeOfTheRequest() {
        mirror();
        filters.add(0, new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                head.fields().add(FieldName.of("x-edited"), "1");
                return Verdict.PROCEED;
            }

            @Override
            public BodyTransform requestBody(RequestHead head, FilterContext context) {
                head.forgetLength();
                return FakeTransform.repeating(2);
            }
        });
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("ab"), false);
        events.onReadComplete();
        primary().succeed();
        copy().succeed();
        events.onData(bytes("c"), true);
        events.onReadComplete();
        assertThat(primary().stream.body).hasToString("aabbcc");
        assertThat(copy().stream.body).hasToString("aabbcc");
        assertThat(copy().stream.ended).isTrue();
        assertThat(copy().stream.head().fields().contains(FieldName.of("x-edited")))
                .isTrue();
        answerAll();
        assertServed();
    }

    @Test
    void eachUpstreamIsToldTheHostOfItsEndpointIfTheRuleSaysSo() {
        settings.preserveHost = false;
        mirroredGet();
        assertThat((CharSequence) primary().stream.head().authority()).hasToString("app.test:9000");
        assertThat((CharSequence) copy().stream.head().authority()).hasToString("next.test:9000");
        answerAll();
        assertServed();
    }

    /** Else the other upstream would seem to be called by the attempt. */
    @Test
    void aCopyIsPartOfTheTraceBesideTheAttempt() {
        settings.traces = TraceValues.of(true, List.of(Propagator.TRACE_CONTEXT), true, 1);
        mirroredGet();
        answerAll();
        assertServed();
        Trace trace = Objects.requireNonNull(record().trace);
        assertThat(traceparent(copy())).contains(trace.idText(), trace.spanText());
        assertThat(traceparent(primary())).contains(trace.idText()).doesNotContain(trace.spanText());
    }

    private static String traceparent(FakeOpening opening) {
        return String.valueOf(opening.stream.head().fields().first(FieldName.TRACEPARENT));
    }

    @Test
    void severalUpstreamsGetCopiesOfTheirOwn() {
        mirror();
        Upstream third = new Upstream(
                "third", new Health(List.of(THIRD), hosts -> request -> THIRD, null, null, () -> now), policy());
        filters.add(new RequestMirror(new MirrorTarget(third, tally), 1, 1, bound -> 0));
        StreamEvents events = request("POST", "/", false);
        primary().succeed();
        copy().succeed();
        at(THIRD).succeed();
        at(THIRD).events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        events.onData(bytes("ab"), true);
        assertThat(at(THIRD).stream.body).isEmpty();
        assertThat(copy().stream.body).hasToString("ab");
        answerAll();
        assertServed();
        assertResults(MirrorResult.SUCCESS, MirrorResult.BROKEN);
    }

    @Test
    void tunnelsAreNotCopied() {
        settings.upgrades = new Route.Upgrades(Set.of(new AsciiString("websocket")), Set.of());
        mirror();
        RequestHead head = head("CONNECT", "/chat");
        head.setProtocol(new AsciiString("websocket"));
        route();
        StreamEvents events = handler().onRequest(client, head, false);
        primary().succeed();
        primary().events.onHead(response(200), false);
        events.onData(bytes("frame"), false);
        close(events);
        assertThat(opener.openings).hasSize(1);
        assertResults();
    }

    @Test
    void aRequestThatAFilterAnswersIsNotCopied() {
        mirror();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return new Verdict.Reply(response(200), Unpooled.EMPTY_BUFFER);
            }
        });
        get();
        assertThat(opener.openings).isEmpty();
        assertResults();
    }

    @Test
    void aRequestThatReachesNoEndpointIsNotCopied() {
        mirror();
        healthy = false;
        get();
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
        assertResults();
    }

    // ---- the request does not depend on its copy

    private static Route.Retry keepingRetry() {
        return keepingRetry(1000);
    }

    private static Route.Retry keepingRetry(int mostKept) {
        return RetryValues.of(
                1,
                new RetryConfig.When(RetryValues.ALL, Set.of(), List.of("PUT")),
                RetryValues.waiting(0, false, 0, 0),
                mostKept,
                RetryValues.budget(100, 10));
    }

    @Test
    void aRequestThatIsSentAgainIsCopiedOnce() {
        retry = keepingRetry();
        mirror();
        StreamEvents events = request("PUT", "/", false);
        primary().succeed();
        events.onData(bytes("ab"), false);
        copy().succeed();
        primary().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        events.onData(bytes("cd"), false);
        at(SECOND).succeed();
        Fields trailers = new Fields();
        trailers.add(FieldName.of("x-sum"), "7");
        events.onTrailers(trailers);
        events.onReadComplete();
        assertThat(at(SECOND).stream.body).hasToString("abcd");
        assertThat(copy().stream.body).hasToString("abcd");
        assertThat(copy().stream.ended).isTrue();
        at(SECOND).events.onReset(stale(RetrySafety.ALWAYS));
        FakeOpening last = opener.last();
        last.succeed();
        assertThat(last.stream.body).hasToString("abcd");
        assertThat(copy().stream.body).hasToString("abcd");
        answer(copy(), 201);
        answer(last, 200);
        assertServed();
        assertResults(MirrorResult.SUCCESS);
    }

    @Test
    void theClientsCreditDoesNotDependOnTheCopy() {
        StreamEvents events = mirroredPost();
        copy().stream.writable = false;
        events.onData(bytes("abc"), false);
        events.onData(bytes("def"), true);
        events.onReadComplete();
        assertThat(client.consumed).isEqualTo(6);
        assertThat(primary().stream.ended).isTrue();
        assertThat(copy().stream.body).isEmpty();
        copy().stream.writable = true;
        copy().events.onWritable();
        assertThat(copy().stream.body).hasToString("abcdef");
        assertThat(copy().stream.ended).isTrue();
        assertThat(copy().stream.unflushed).isZero();
        answerAll();
        assertServed();
    }

    /** A connection that is full may flush within a write, and so find room in its midst. */
    @Test
    void roomThatComesWithinAPieceIsUsedAfterIt() {
        mirror();
        StreamEvents events = request("POST", "/", false);
        primary().succeed();
        FakeClientStream stream = copy().stream;
        stream.writable = false;
        copy().succeed();
        events.onData(bytes("abc"), false);
        events.onData(bytes("def"), true);
        events.onReadComplete();
        stream.writable = true;
        stream.onNextCall = () -> {
            copy().events.onWritable();
            assertThat(stream.body).hasToString("abc");
            assertThat(stream.unflushed).isEqualTo(1);
        };
        copy().events.onWritable();
        assertThat(stream.body).hasToString("abcdef");
        assertThat(stream.ended).isTrue();
        assertThat(stream.unflushed).isZero();
        answerAll();
        assertServed();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCopyThatIsTakenTooSlowlyIsGivenUp(boolean connected) {
        mirror();
        StreamEvents events = request("POST", "/", false);
        primary().succeed();
        if (connected) {
            copy().succeed();
            copy().stream.writable = false;
        }
        int size = 1 << 16;
        for (int i = 0; i < MirroredBody.MOST_BYTES / size; i++) {
            events.onData(block(size), false);
            events.onReadComplete();
        }
        assertThat(tally.active()).isEqualTo(1);
        assertThat(handler().loop.mirrors.waitingBodies().held()).isEqualTo(MirroredBody.MOST_BYTES);
        events.onData(block(size), false);
        assertResults(MirrorResult.SLOW);
        assertThat(copy().cancelled).isEqualTo(!connected);
        assertThat(copy().stream.reset != null).isEqualTo(connected);
        events.onData(bytes("end"), true);
        answer(primary(), 200);
        assertServed();
        assertThat(primary().stream.body).hasSize((int) MirroredBody.MOST_BYTES + size + 3);
        assertThat((long) client.consumed).isEqualTo(MirroredBody.MOST_BYTES + size + 3);
    }

    /** A piece keeps its whole buffer from being freed, so the buffer counts. */
    @Test
    void smallPiecesOfLargeBuffersCountAsLarge() {
        StreamEvents events = mirroredPost();
        copy().stream.writable = false;
        for (int i = 0; i <= 16; i++) {
            events.onData(block(1 << 16).writerIndex(1), false);
        }
        assertResults(MirrorResult.SLOW);
        events.onData(bytes(""), true);
        answer(primary(), 200);
        assertServed();
    }

    /** As when one read brings many frames. */
    @Test
    void piecesOfOneBufferCountItOnce() {
        StreamEvents events = mirroredPost();
        FakeClientStream stream = copy().stream;
        stream.writable = false;
        int size = (int) MirroredBody.MOST_BYTES / 2;
        int piece = 1 << 14;
        for (int i = 0; i < 2; i++) {
            ByteBuf read = block(size);
            while (read.isReadable()) {
                events.onData(read.readRetainedSlice(piece), false);
            }
            read.release();
        }
        assertResults();
        assertThat(handler().loop.mirrors.waitingBodies().held()).isEqualTo(2L * size);
        stream.writable = true;
        stream.onNextCall = () -> stream.writable = false;
        copy().events.onWritable();
        assertThat(stream.body).hasSize(piece);
        assertThat(handler().loop.mirrors.waitingBodies().held()).isEqualTo(2L * size);
        stream.writable = true;
        copy().events.onWritable();
        assertThat(stream.body).hasSize(2 * size);
        assertThat(handler().loop.mirrors.waitingBodies().held()).isZero();
        events.onData(bytes("end"), true);
        answerAll();
        assertServed();
        assertResults(MirrorResult.SUCCESS);
    }

    /** Else all that one read brings would wait until the read is over. */
    @Test
    void aFullStreamIsFlushedWithinARead() {
        StreamEvents events = mirroredPost();
        FakeClientStream stream = copy().stream;
        stream.onNextCall = () -> stream.writable = false;
        stream.onFlush = () -> {
            stream.writable = true;
            copy().events.onWritable();
        };
        events.onData(bytes("ab"), false);
        events.onData(bytes("cd"), false);
        assertThat(stream.body).hasToString("abcd");
        assertThat(stream.flushes).isEqualTo(2); // the first one was that of the head
        events.onData(bytes("ef"), true);
        events.onReadComplete();
        assertThat(stream.body).hasToString("abcdef");
        assertThat(stream.unflushed).isZero();
        answerAll();
        assertServed();
        assertResults(MirrorResult.SUCCESS);
    }

    private ByteBuf block(int size) {
        ByteBuf buffer = ByteBufAllocator.DEFAULT.buffer(size, size).writeZero(size);
        buffers.add(buffer);
        return buffer;
    }

    @Test
    void whatACopyHoldsIsGivenUpWhenMemoryRunsLow() {
        StreamEvents events = mirroredPost();
        copy().stream.writable = false;
        events.onData(block(100), false);
        assertThat(StalledPeers.ofThisLoop().cut(1, 1, 0)).isEqualTo(100);
        assertResults(MirrorResult.OVERLOAD);
        events.onData(bytes("end"), true);
        answer(primary(), 200);
        assertServed();
    }

    /** A full stream keeps what it was given, until its peer takes it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatAFullStreamWasGivenStillCounts(boolean runsLow) {
        StreamEvents events = mirroredPost();
        FakeClientStream stream = copy().stream;
        stream.onNextCall = () -> stream.writable = false;
        events.onData(block(100), true);
        events.onReadComplete();
        assertThat(stream.body).hasSize(100);
        assertThat(handler().loop.mirrors.waitingBodies().held()).isEqualTo(100);
        if (runsLow) {
            assertThat(StalledPeers.ofThisLoop().cut(1, 1, 0)).isEqualTo(100);
            assertThat(stream.reset).isNotNull();
            assertResults(MirrorResult.OVERLOAD);
        } else {
            stream.writable = true;
            copy().events.onWritable();
            assertThat(handler().loop.mirrors.waitingBodies().held()).isZero();
            assertThat(StalledPeers.ofThisLoop().cut(1, 1, 0)).isZero();
            answer(copy(), 200);
            assertResults(MirrorResult.SUCCESS);
        }
        answer(primary(), 200);
        assertServed();
    }

    @Test
    void copiesTogetherAreGivenUpBeforeAClientThatHoldsLess() {
        mirror();
        route();
        int copies = 3;
        for (int i = 0; i < copies; i++) {
            StreamEvents events = handler().onRequest(new FakeServerStream(), head("POST", "/"), false);
            opener.last().succeed();
            opener.last().succeed();
            opener.last().stream.writable = false;
            events.onData(block(100), true);
            answer(opener.openings.get(2 * i), 200);
        }
        boolean[] cut = new boolean[1];
        StalledPeers.Holder client = new StalledPeers.Holder() {
            @Override
            protected long held() {
                return 150;
            }

            @Override
            protected long heldHeap() {
                return 0;
            }

            @Override
            protected Object culprit() {
                return this;
            }

            @Override
            protected void cut() {
                cut[0] = true;
            }
        };
        client.stall();
        try {
            assertThat(StalledPeers.ofThisLoop().cut(1, 250, 0)).isEqualTo(300);
            assertThat(cut[0]).isFalse();
        } finally {
            client.resume();
        }
        assertResults(MirrorResult.OVERLOAD, MirrorResult.OVERLOAD, MirrorResult.OVERLOAD);
    }

    @Test
    void withoutMemoryForItThereIsNoCopy() {
        gate = gate(Cost.EXCHANGE, 1 << 20);
        mirror();
        StreamEvents events = request("POST", "/", false);
        primary().succeed();
        events.onData(bytes("ab"), true);
        assertThat(opener.openings).hasSize(1);
        assertResults(MirrorResult.OVERLOAD);
        answer(primary(), 200);
        assertServed();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCopyThatCannotBeMadeIsCounted(boolean memory) {
        settings.onNextAfterHead = () -> {
            if (memory) {
                throw new OutOfMemoryError("made by the test");
            }
            throw new IllegalStateException("a defect");
        };
        mirror();
        get();
        primary().succeed();
        assertThat(opener.openings).hasSize(1);
        answer(primary(), 200);
        assertServed();
        assertResults(memory ? MirrorResult.OVERLOAD : MirrorResult.BROKEN);
    }

    @Test
    void withoutMemoryForItsBodyTheCopyIsGivenUp() {
        gate = gate(1 << 20, 1 << 17);
        StreamEvents events = mirroredPost();
        copy().stream.writable = false;
        events.onData(block(1 << 14), false);
        assertResults();
        events.onData(block(1 << 16), true);
        assertResults(MirrorResult.OVERLOAD);
        answer(primary(), 200);
        assertServed();
    }

    /** Else a test version that hangs would take retries away. */
    @Test
    void copiesGiveWayBeforeWhatIsKeptForRetries() {
        gate = gate(1 << 20, 1 << 20);
        client.account = gate.newAccount();
        retry = keepingRetry(1 << 20);
        mirror();
        StreamEvents events = request("PUT", "/", false);
        primary().succeed();
        copy().succeed();
        copy().stream.writable = false;
        int size = 1 << 14;
        int pieces = 15;
        for (int i = 0; i < pieces; i++) { // with as much for the copy, that is too much for one client
            events.onData(block(size), false);
        }
        assertResults(MirrorResult.OVERLOAD);
        primary().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        at(SECOND).succeed();
        events.onData(bytes("end"), true);
        assertThat(at(SECOND).stream.body).hasSize(size * pieces + 3);
        answer(at(SECOND), 200);
        assertServed();
    }

    @Test
    void nothingIsCopiedWhileTheGatewayIsShortOfAResource() {
        Overload overload = new Overload();
        overload.watch(new Pressure() {
            @Override
            public Resource resource() {
                return Resource.HEAP;
            }

            @Override
            public double level() {
                return OverloadConfig.DEFAULT.heap() - 0.04;
            }
        });
        gate = new LoopGate(overload, null, null);
        mirror();
        StreamEvents events = request("POST", "/", false);
        overload.review();
        assertThat(overload.endsKeepAlive()).isTrue();
        assertThat(overload.refusesConnections()).isFalse();
        primary().succeed();
        events.onData(bytes("ab"), true);
        assertThat(opener.openings).hasSize(1);
        assertResults(MirrorResult.OVERLOAD);
        answer(primary(), 200);
        assertServed();
    }

    @ParameterizedTest
    @CsvSource({
        "DNS_FAILED, UNREACHABLE",
        "CONNECT_FAILED, UNREACHABLE",
        "CONNECT_TIMEOUT, UNREACHABLE",
        "TLS_FAILED, UNREACHABLE",
        "PENDING_OVERFLOW, LIMIT",
        "PENDING_TIMEOUT, LIMIT",
        "DRAIN, ABORTED"
    })
    void aCopyThatGetsNoStreamIsNotTriedAgain(Cause cause, MirrorResult result) {
        mirror();
        StreamEvents events = request("POST", "/", false);
        primary().succeed();
        events.onData(bytes("ab"), false);
        copy().fail(failure(cause, RetrySafety.ALWAYS));
        events.onData(bytes("cd"), true);
        assertThat(opener.openings).hasSize(2);
        assertThat(primary().stream.body).hasToString("abcd");
        answer(primary(), 200);
        assertServed();
        assertResults(result);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCopyThatBreaksIsNotTriedAgain(boolean responding) {
        StreamEvents events = mirroredPost();
        events.onData(bytes("ab"), false);
        if (responding) {
            copy().events.onHead(response(200), false);
        }
        copy().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        events.onData(bytes("cd"), true);
        assertThat(opener.openings).hasSize(2);
        answer(primary(), 200);
        assertServed();
        assertResults(MirrorResult.BROKEN);
    }

    @Test
    void withoutAnEndpointForItThereIsNoCopy() {
        balancing = request -> null;
        mirror();
        get();
        primary().succeed();
        assertThat(opener.openings).hasSize(1);
        answer(primary(), 200);
        assertServed();
        assertResults(MirrorResult.NO_ENDPOINT);
    }

    @Test
    void aBalancerThatThrowsEndsTheCopyOnly() {
        balancing = request -> {
            throw new IllegalStateException("a defect");
        };
        mirror();
        get();
        primary().succeed();
        answer(primary(), 200);
        assertServed();
        assertResults(MirrorResult.BROKEN);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStreamThatThrowsEndsTheCopyOnly(boolean memory) {
        StreamEvents events = mirroredPost();
        copy().stream.onNextCall = () -> {
            if (memory) {
                throw new OutOfMemoryError("made by the test");
            }
            throw new IllegalStateException("a defect");
        };
        events.onData(bytes("ab"), false);
        assertResults(memory ? MirrorResult.OVERLOAD : MirrorResult.BROKEN);
        assertThat(copy().stream.reset).isNotNull();
        events.onData(bytes("cd"), true);
        assertThat(primary().stream.body).hasToString("abcd");
        answer(primary(), 200);
        assertServed();
    }

    @Test
    void aStreamThatThrowsTwiceEndsTheCopyOnly() {
        StreamEvents events = mirroredPost();
        copy().stream.onNextCall = () -> {
            throw new IllegalStateException("a defect");
        };
        copy().stream.onReset = () -> {
            throw new IllegalStateException("another defect");
        };
        events.onData(bytes("ab"), false);
        assertResults(MirrorResult.BROKEN);
        events.onData(bytes("cd"), true);
        assertThat(primary().stream.body).hasToString("abcd");
        answer(primary(), 200);
        assertServed();
    }

    @Test
    void aCopyThatThrowsAtTheEndLeavesNothingBehind() {
        StreamEvents events = mirroredPost();
        copy().stream.onReset = () -> {
            throw new IllegalStateException("a defect");
        };
        events.onData(bytes("ab"), false);
        answer(primary(), 200);
        assertServed();
        assertResults(MirrorResult.ABORTED);
    }

    /** As when both go by the same HTTP/2 connection, and it breaks. */
    @Test
    void aCopyMayEndTheAttemptOfTheRequest() {
        retry = keepingRetry();
        mirror();
        StreamEvents events = request("PUT", "/", false);
        primary().succeed();
        copy().succeed();
        FakeOpening first = primary();
        copy().stream.onNextCall = () -> first.events.onReset(stale(RetrySafety.ALWAYS));
        events.onData(bytes("ab"), false);
        at(SECOND).succeed();
        events.onData(bytes("cd"), true);
        events.onReadComplete();
        assertThat(at(SECOND).stream.body).hasToString("abcd");
        assertThat(copy().stream.body).hasToString("abcd");
        assertThat(client.consumed).isEqualTo(4);
        answer(copy(), 200);
        answer(at(SECOND), 200);
        assertServed();
    }

    // ---- the answer to a copy

    @ParameterizedTest
    @CsvSource({"200, SUCCESS", "302, REDIRECT", "404, CLIENT_ERROR", "503, SERVER_ERROR", "999, SERVER_ERROR"})
    void answersAreCountedAndGoNowhere(int status, MirrorResult result) {
        mirroredGet();
        copy().events.onHead(response(103), false);
        copy().events.onHead(response(status), false);
        copy().events.onData(bytes("not for"), false);
        copy().events.onData(bytes(" the client"), true);
        assertResults(result);
        assertThat(copy().stream.consumed).isEqualTo(18);
        assertThat(copy().stream.reset).isNull();
        assertThat(next().host(NEXT).isFailing()).isEqualTo(status == 503);
        answer(primary(), 200);
        assertServed();
        assertThat(client.body).isEmpty();
    }

    @Test
    void anAnswerMayEndWithTrailers() {
        mirroredGet();
        copy().events.onHead(response(200), false);
        copy().events.onTrailers(new Fields());
        assertResults(MirrorResult.SUCCESS);
        assertThat(copy().stream.reset).isNull();
        answer(primary(), 200);
    }

    @Test
    void anAnswerMayComeInsideTheCall() {
        opener.atOnce = opening -> {
            opening.succeed();
            if (opening.endpoint.equals(NEXT)) {
                answer(opening, 200);
            }
        };
        mirror();
        StreamEvents events = request("POST", "/", false);
        events.onReadComplete();
        assertResults(MirrorResult.SUCCESS);
        events.onData(bytes("ab"), true);
        assertThat(copy().stream.reset)
                .as("an answer before the end of the request")
                .isNotNull();
        answer(primary(), 200);
        assertServed();
    }

    @Test
    void anAnswerThatIsTooLongIsCutOff() {
        mirroredGet();
        copy().events.onHead(response(200), false);
        int size = 1 << 16;
        for (int i = 0; i < Mirror.MOST_ANSWER / size; i++) {
            copy().events.onData(block(size), false);
        }
        assertThat(copy().stream.reset).isNull();
        assertThat((long) copy().stream.consumed).isEqualTo(Mirror.MOST_ANSWER);
        copy().events.onData(bytes("x"), false);
        assertThat(copy().stream.reset).isNotNull();
        assertResults(MirrorResult.SUCCESS);
        answer(primary(), 200);
        assertServed();
    }

    @Test
    void anotherProtocolIsNoAnswer() {
        mirroredGet();
        copy().events.onHead(response(101), false);
        assertThat(copy().stream.reset).isNotNull();
        assertResults(MirrorResult.BROKEN);
        answer(primary(), 200);
        assertServed();
    }

    // ---- how long a copy lasts

    @Test
    void aCopyMayOutliveTheExchangeForTheTimeOfAnAnswer() {
        mirroredGet();
        answer(primary(), 200);
        assertServed();
        assertThat(handler().active()).isZero();
        assertThat(client.account.held()).isZero();
        pass(ANSWER_MILLIS - 20);
        assertThat(tally.active()).isEqualTo(1);
        pass(40);
        assertResults(MirrorResult.TIMEOUT);
        assertThat(copy().stream.reset).isNotNull();
        assertThat(next().host(NEXT).isFailing()).isTrue();
        assertThat(records.completed).hasSize(1);
    }

    /** Else a slow copy would keep all that belongs to the client's connection. */
    @Test
    void aCopyDoesNotKeepTheStreamOfTheClient() {
        ExchangeContext caller = new ExchangeContext(
                handler().loop, settings, client, head("GET", "/"), new ExchangeRecord(client.connection()));
        ExchangeContext copy = SideRequest.context(caller, caller.record.connection, next(), caller.head.copy());
        assertThat(copy.server).isNotSameAs(client);
    }

    @Test
    void aCopyThatIsNotConnectedYetMayOutliveTheExchange() {
        mirror();
        StreamEvents events = request("POST", "/", false);
        primary().succeed();
        events.onData(bytes("ab"), true);
        events.onReadComplete();
        answer(primary(), 200);
        assertServed();
        copy().succeed();
        assertThat(copy().stream.body).hasToString("ab");
        assertThat(copy().stream.ended).isTrue();
        assertThat(copy().stream.unflushed).isZero();
        answer(copy(), 200);
        assertResults(MirrorResult.SUCCESS);
    }

    @Test
    void anAnswerThatLastsTooLongCountsByItsStatus() {
        mirroredGet();
        copy().events.onHead(response(200), false);
        answer(primary(), 200);
        assertServed();
        pass(ANSWER_MILLIS - 20);
        assertThat(copy().stream.reset).isNull();
        pass(40);
        assertThat(copy().stream.reset).isNotNull();
        assertThat(next().host(NEXT).isFailing()).isFalse();
        assertResults(MirrorResult.SUCCESS);
    }

    @Test
    void withoutALimitOfItsUpstreamACopyStillEnds() {
        mirror();
        next = null;
        responseHeadersMillis = 0;
        filters.clear();
        filters.add(new RequestMirror(new MirrorTarget(next(), tally), 1, 1, bound -> 0));
        get();
        primary().succeed();
        copy().succeed();
        answer(primary(), 200);
        pass(Mirror.MOST_MILLIS + 20);
        assertResults(MirrorResult.TIMEOUT);
    }

    @Test
    void theRulesLimitForAnAttemptHoldsForTheCopy() {
        timeouts = new Route.Timeouts(0, 1000, 0, TunnelTimeouts.NONE);
        mirror();
        get();
        primary().succeed();
        answer(primary(), 200);
        pass(980);
        assertThat(copy().expired).isFalse();
        pass(40);
        assertThat(copy().expired).isTrue();
        assertResults(MirrorResult.TIMEOUT);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClientThatLeavesEndsTheCopy(boolean whole) {
        StreamEvents events = mirroredPost();
        copy().stream.writable = false;
        events.onData(bytes("ab"), whole);
        events.onReadComplete();
        events.onReset(GONE);
        assertThat(copy().stream.reset).isNotNull();
        assertResults(MirrorResult.ABORTED);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
        assertThat(next().host(NEXT).isFailing()).isFalse();
    }

    @Test
    void aClientThatLeavesAfterTheResponseLeavesTheCopyAlone() {
        mirror();
        StreamEvents events = get();
        primary().succeed();
        copy().succeed();
        answer(primary(), 200);
        events.onReset(GONE);
        assertThat(copy().stream.reset).isNull();
        answer(copy(), 200);
        assertResults(MirrorResult.SUCCESS);
    }

    @Test
    void aRequestThatEndsEarlyEndsTheCopy() {
        StreamEvents events = mirroredPost();
        events.onData(bytes("ab"), false);
        answer(primary(), 200);
        assertThat(copy().stream.reset).isNotNull();
        assertResults(MirrorResult.ABORTED);
        assertServed();
    }

    @Test
    void aRequestThatFailsLeavesACompleteCopyAlone() {
        mirroredGet();
        primary().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.NEVER));
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
        answer(copy(), 200);
        assertResults(MirrorResult.SUCCESS);
    }

    @Test
    void aGenerationLastsAsLongAsItsCopies() {
        boolean[] ended = new boolean[1];
        mirror();
        route();
        handler = new ExchangeHandler(opener, new TimerWheel(loop.eventLoop(), () -> now), records, gate);
        handler.use(settings, () -> ended[0] = true);
        handler.onRequest(client, head("GET", "/"), true).onReadComplete();
        primary().succeed();
        copy().succeed();
        answer(primary(), 200);
        handler.use(new Fakes.Settings(), () -> {});
        assertThat(ended[0]).isFalse();
        answer(copy(), 200);
        assertThat(ended[0]).isTrue();
    }
}
