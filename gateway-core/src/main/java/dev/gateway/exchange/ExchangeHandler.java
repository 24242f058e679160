package dev.gateway.exchange;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.TraceLink;
import dev.gateway.overload.LoopGate;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import dev.gateway.trace.Trace;
import dev.gateway.trace.TraceSettings;
import dev.gateway.upstream.StreamOpener;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The request handler of one event loop: makes an {@link Exchange} of each request, served to its end by the generation that
 * is in force when it begins. Confined to its loop, as is all it is made with but the settings.
 */
public final class ExchangeHandler implements RequestHandler {
    private static final AsciiString WEBSOCKET = new AsciiString("websocket");

    final LoopServices loop;
    private @Nullable GenerationRef[] generations = {}; // by listener

    /** Makes the handler of an event loop that has room for every request: for tests. */
    public ExchangeHandler(StreamOpener opener, TimerWheel wheel, ExchangeObserver observer) {
        this(opener, wheel, observer, LoopGate.OPEN);
    }

    /** Makes the handler of an event loop; {@link #use} must follow before its first request. */
    public ExchangeHandler(StreamOpener opener, TimerWheel wheel, ExchangeObserver observer, LoopGate gate) {
        this.loop = new LoopServices(opener, wheel, observer, gate);
    }

    /**
     * Serves requests that begin from now on by another generation. A listener that it does not have keeps the one it
     * has, until it is forgotten.
     *
     * @param ended run on this loop, once, when no listener and no exchange uses that generation any more
     */
    public void use(ExchangeSettings next, Runnable ended) {
        GenerationRef generation = new GenerationRef(next, ended);
        generation.begin();
        int listeners = next.listeners();
        if (listeners > generations.length) {
            generations = Arrays.copyOf(generations, listeners);
        }
        for (int i = 0; i < listeners; i++) {
            if (next.serves(i)) {
                generation.serve();
                replace(i, generation);
            }
        }
        generation.end();
    }

    /** A listener is gone: none of its connections is left. */
    public void forget(int listener) {
        if (listener < generations.length) {
            replace(listener, null);
        }
    }

    private void replace(int listener, @Nullable GenerationRef next) {
        GenerationRef before = generations[listener];
        generations[listener] = next;
        if (before != null) {
            before.retire();
        }
    }

    private GenerationRef begin(ServerStream stream) {
        int listener = stream.connection().listener();
        GenerationRef generation = listener < generations.length ? generations[listener] : null;
        if (generation == null) {
            throw new IllegalStateException(
                    "no generation serves listener " + stream.connection().listenerName());
        }
        loop.begin(generation);
        return generation;
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        GenerationRef generation = begin(stream);
        ExchangeRecord record = record(stream, head, generation.settings());
        Exchange exchange = new Exchange(loop, generation, stream, head, record);
        exchange.begin(last);
        return exchange;
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        GenerationRef generation = begin(stream);
        ExchangeRecord record = record(stream, head, generation.settings());
        loop.observer.onBegun(record);
        record.cause = failure.cause();
        record.detail = failure.detail();
        record.status = failure.status();
        record.requestId =
                RequestChecks.requestId(record.fields, record.fromProxy, generation.settings(), loop.requestIds);
        record.sentBytes = loop.replies.send(
                stream,
                head,
                failure,
                generation.settings(),
                new LocalReply.About(record.requestId, null, new Fields()));
        record.endNanos = loop.wheel.nanoTime();
        loop.end(record, generation);
    }

    /** Makes the record of a request that has just come. */
    private ExchangeRecord record(ServerStream stream, @Nullable RequestHead head, ExchangeSettings settings) {
        ExchangeRecord record = new ExchangeRecord(stream.connection());
        record.generation = settings.generation();
        record.headNanos = stream.headNanos();
        record.startNanos = loop.wheel.nanoTime();
        record.startMillis = loop.wheel.wallMillis();
        if (head != null) {
            record.kind = kind(head);
            record.method = head.routedMethod();
            record.scheme = head.scheme();
            record.authority = head.authority();
            record.path = head.path();
            record.fields = head.fields();
        }
        ClientFinder.find(record, settings);
        TraceSettings wanted = settings.traces();
        if (wanted != null) {
            boolean trusted = record.fromProxy
                    || settings.trust(record.connection.listener()).tracesOfAnyone();
            Trace trace = loop.traces.begin(record.fields, trusted, wanted);
            record.trace = trace;
            if (trace.isRecorded()) {
                record.sampledTrace = new TraceLink(trace.idText(), trace.spanText());
            }
        }
        return record;
    }

    private static Kind kind(RequestHead head) {
        AsciiString protocol = head.protocol();
        if (protocol == null) {
            return head.isConnect() ? Kind.TUNNEL : Kind.HTTP;
        }
        return protocol.contentEqualsIgnoreCase(WEBSOCKET) ? Kind.WEBSOCKET : Kind.UPGRADE;
    }

    /**
     * Returns some of the open tunnels.
     *
     * @param after those numbered after this one
     * @param limit how many at most, the first in order
     */
    public List<OpenTunnel> tunnels(long after, int limit) {
        return loop.tunnels.list(after, limit, loop.wheel.nanoTime());
    }

    /** Returns how many exchanges this loop carries. */
    public int active() {
        return loop.active();
    }
}
