package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.Fakes.FakeClientStream;
import dev.gateway.exchange.Fakes.FakeOpener;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.Fakes.Records;
import dev.gateway.exchange.Fakes.Settings;
import dev.gateway.exchange.body.BodyContext;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What tests of one part of an exchange stand on: the exchange, two streams, and a clock. */
abstract class PartRig {
    final EmbeddedChannel channel = new EmbeddedChannel();
    final FakeServerStream client = new FakeServerStream();
    final FakeClientStream upstream = new FakeClientStream();
    final Settings settings = new Settings();
    final Records records = new Records();
    final LoopBudget budget = new LoopBudget(new MemoryBudget(1 << 20, 1));
    final LoopBudget bodies = new LoopBudget(new MemoryBudget(1 << 16, 1));
    final List<String> told = new ArrayList<>();
    final List<ByteBuf> buffers = new ArrayList<>();
    final FakeOpener opener = new FakeOpener();
    final FakeContext context = new FakeContext();
    final FakeCaller caller = new FakeCaller();
    long now = 1;
    final TimerWheel wheel = new TimerWheel(channel.eventLoop(), () -> now);

    @Nullable
    Exchange exchange;

    PartRig() {
        client.account = new Account(budget, bodies);
    }

    @BeforeEach
    void freezeTime() {
        channel.freezeTime();
    }

    @AfterEach
    void nothingIsLeftBehind() {
        if (exchange != null) {
            exchange.deadlines.cancel();
        }
        assertThat(buffers).allSatisfy(buffer -> assertThat(buffer.refCnt()).isZero());
        assertThat(budget.held()).as("bytes charged").isEqualTo(exchange == null ? 0 : exchange.held.bytes());
        assertThat(bodies.held()).as("bytes that wait").isZero();
        assertThat(stalled()).as("bytes that are stalled").isZero();
        channel.finishAndReleaseAll();
    }

    /** Cuts whoever is stalled; returns how many bytes were held. */
    static long stalled() {
        return StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0);
    }

    Exchange exchange() {
        return exchange("POST");
    }

    /** Makes the exchange, once. It has not begun. */
    Exchange exchange(String method) {
        Exchange made = exchange;
        if (made == null) {
            RequestHead head = ExchangeRig.head(method, "/");
            ExchangeRecord record = new ExchangeRecord(client.connection());
            record.startNanos = now;
            LoopServices loop = new LoopServices(opener, wheel, records, LoopGate.OPEN);
            GenerationRef generation = new GenerationRef(settings, new HashSet<>(), () -> {});
            generation.serve();
            loop.begin(generation);
            made = new Exchange(loop, generation, settings, client, head, record);
            generation.add(made);
            exchange = made;
        }
        return made;
    }

    /** Sends the request to the upstream of its route. */
    void enter() {
        Upstream to = exchange().routing.enter(settings);
        if (to != null) {
            exchange().sendTo(to);
        }
    }

    /** Makes an upstream with one endpoint. */
    static Upstream app() {
        UpstreamSettings limits = UpstreamValues.builder()
                .maxConnections(1)
                .maxPendingRequests(1)
                .maxRequests(1)
                .build();
        return new Upstream("app", List.of(ExchangeRig.FIRST), hosts -> request -> ExchangeRig.FIRST, limits);
    }

    /** Brings the exchange to where the upstream has the request's head. */
    void requested() {
        exchange().state.on(Event.ROUTED);
        exchange().state.on(Event.OPENED);
    }

    ByteBuf bytes(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteBuf buffer = ByteBufAllocator.DEFAULT.buffer(bytes.length).writeBytes(bytes); // charged by its capacity
        buffers.add(buffer);
        return buffer;
    }

    void pass(long millis) {
        for (long i = 0; i < millis; i += TimerWheel.TICK_MILLIS) {
            now += TimeUnit.MILLISECONDS.toNanos(TimerWheel.TICK_MILLIS);
            channel.advanceTimeBy(TimerWheel.TICK_MILLIS, TimeUnit.MILLISECONDS);
            channel.runScheduledPendingTasks();
        }
    }

    /** The exchange of a body, which writes down how it fails. */
    final class FakeContext implements BodyContext {
        @Override
        public ConnectionInfo connection() {
            return exchange().record.connection;
        }

        @Override
        public long heldHeap() {
            return 0;
        }

        @Override
        public boolean isDone() {
            return exchange().state.isDone();
        }

        @Override
        public void fail(Failure failure) {
            told.add("failed: " + failure.cause().label());
            exchange().state.on(Event.FAILED);
        }

        @Override
        public void onDefect(Throwable defect) {
            told.add("defect: " + defect.getMessage());
            exchange().state.on(Event.FAILED);
        }
    }

    /** The maker of an attempt, which writes down what it is told. */
    final class FakeCaller implements Attempt.Caller {
        @Override
        public ConnectionInfo connection() {
            return exchange().record.connection;
        }

        @Override
        public boolean isTried(Endpoint endpoint) {
            return false;
        }

        @Override
        public void onMoved(Endpoint to) {
            told.add("moved to " + to);
        }

        @Override
        public void onDialed(long nanos) {
            told.add("dialed");
        }

        @Override
        public void onOpened(Attempt from, ClientStream stream, DialedPeer hop) {
            told.add("opened");
        }

        @Override
        public void onFailed(Failure failure) {
            told.add("attempt failed: " + failure.cause().label());
        }

        @Override
        public void onHead(ResponseHead head, boolean last) {
            told.add("head " + head.status());
        }

        @Override
        public void onTrailers(Fields trailers) {
            told.add("trailers");
        }

        @Override
        public void onWritable() {
            told.add("writable");
        }
    }
}
