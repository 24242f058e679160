package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.ExchangeState.Action;
import dev.gateway.exchange.ExchangeState.Event;
import dev.gateway.exchange.Fakes.FakeClientStream;
import dev.gateway.exchange.Fakes.FakeOpener;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.Fakes.Records;
import dev.gateway.exchange.Fakes.Settings;
import dev.gateway.exchange.route.Route;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What tests of one part of an exchange stand on: two streams, a clock, and an owner that writes down what it is told. */
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
    final FakeOwner owner = new FakeOwner();
    long now = 1;
    final TimerWheel wheel = new TimerWheel(channel.eventLoop(), () -> now);

    @Nullable
    ExchangeContext exchange;

    PartRig() {
        client.account = new Account(budget, bodies);
    }

    @BeforeEach
    void freezeTime() {
        channel.freezeTime();
    }

    @AfterEach
    void nothingIsLeftBehind() {
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

    ExchangeContext exchange() {
        return exchange("POST");
    }

    /** Makes what the parts of an exchange share, once. */
    ExchangeContext exchange(String method) {
        ExchangeContext made = exchange;
        if (made == null) {
            RequestHead head = ExchangeRig.head(method, "/");
            ExchangeRecord record = new ExchangeRecord(client.connection());
            LoopServices loop = new LoopServices(new FakeOpener(), wheel, records, LoopGate.OPEN);
            made = new ExchangeContext(loop, settings, client, head, record);
            exchange = made;
        }
        return made;
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

    /** All that the parts of an exchange tell it. */
    final class FakeOwner
            implements Attempt.Owner,
                    Deadlines.Owner,
                    RequestBody.Owner,
                    RequestRouting.Owner,
                    Response.Owner,
                    TunnelExchange.Owner {
        boolean owesHead = true;
        private @Nullable Deadlines deadlines;
        private @Nullable RequestRouting routing;
        private @Nullable Response response;

        @Override
        public long heldHeap() {
            return 0;
        }

        @Override
        public boolean isDone() {
            return exchange().state.isDone();
        }

        @Override
        public void beforeForwarding(ResponseHead head) {}

        @Override
        public Object culprit() {
            return connection().culprit();
        }

        @Override
        public boolean isTried(Endpoint endpoint) {
            return false;
        }

        @Override
        public Deadlines deadlines() {
            Deadlines made = deadlines == null ? new Deadlines(this, wheel) : deadlines;
            deadlines = made;
            return made;
        }

        @Override
        public RequestRouting routing() {
            RequestRouting made = routing == null ? new RequestRouting(exchange(), this) : routing;
            routing = made;
            return made;
        }

        @Override
        public Response response() {
            Response made = response == null ? new Response(exchange(), this) : response;
            response = made;
            return made;
        }

        @Override
        public ConnectionInfo connection() {
            return exchange().record.connection;
        }

        @Override
        public void fail(Failure failure) {
            told.add("failed: " + failure.cause().label());
            exchange().state.on(Event.FAILED);
        }

        @Override
        public void fail(Failure failure, Fields fields) {
            fail(failure);
        }

        @Override
        public void onClientsTimeUp(Failure failure) {
            fail(failure);
        }

        @Override
        public void onPaceDue() {
            told.add("pace");
        }

        @Override
        public boolean isContinueDue() {
            return false;
        }

        @Override
        public void onContinueDue() {
            told.add("continue");
        }

        @Override
        public void onDefect(Throwable defect) {
            told.add("defect: " + defect.getMessage());
            exchange().state.on(Event.FAILED);
        }

        @Override
        public void perform(Action action) {
            if (action != Action.NOTHING) {
                told.add(action.toString());
            }
        }

        @Override
        public void onReceived(int bytes) {
            told.add("received " + bytes);
        }

        @Override
        public void onSent(int bytes) {
            told.add("sent " + bytes);
        }

        @Override
        public void answerInstead(ResponseHead head, ErrorAnswer answer, ErrorBody body, boolean drops) {
            told.add("instead of " + head.status() + (drops ? ", dropping the rest" : ""));
        }

        @Override
        public void onFinalHead() {
            told.add("final head");
        }

        @Override
        public void onResponded() {
            told.add("responded");
        }

        @Override
        public void becomeTunnel() {
            told.add("tunnel");
        }

        @Override
        public void onUpgradeRefused() {
            told.add("upgrade refused");
        }

        @Override
        public void onUpgradeAsked() {
            told.add("upgrade asked");
        }

        @Override
        public boolean isRequestHeadOnly() {
            return true;
        }

        @Override
        public void onSwitched() {
            told.add("switched");
        }

        @Override
        public void endInOrder(Failure failure) {
            told.add("end in order");
        }

        @Override
        public void sendTo(Upstream to, Route route) {
            told.add("send to " + to.name());
        }

        @Override
        public void limitRequestBody(long maxBytes, String by) {
            told.add("at most " + maxBytes + " bytes, by " + by);
        }

        @Override
        public void answer(int status, @Nullable Failure refusal, IntSupplier sending) {
            told.add("answered " + status + ", " + sending.getAsInt() + " bytes"
                    + (refusal == null ? "" : ": " + refusal.cause().label()));
        }

        @Override
        public void onTimeout(Failure failure) {
            told.add("timeout: " + failure.detail());
        }

        @Override
        public void onAttemptTimeout(Failure failure) {
            told.add("attempt: " + failure.detail());
        }

        @Override
        public void onSilent() {}

        @Override
        public boolean owesHead() {
            return owesHead;
        }

        @Override
        public void onTimeUp(Failure failure) {
            told.add(failure.cause().label() + ": " + failure.detail());
        }

        @Override
        public void onReportDue() {
            told.add("report");
        }

        @Override
        public void onBackedOff() {
            told.add("backed off");
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
