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
import dev.gateway.trace.Traces;
import dev.gateway.upstream.StreamOpener;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The front door of one event loop: makes an {@link Exchange} of each request, served to its end by the generation that
 * is in force when it begins. Confined to its loop, as is all it is made with but the settings.
 */
public final class ExchangeHandler implements RequestHandler {
    private static final AsciiString WEBSOCKET = new AsciiString("websocket");

    final StreamOpener opener;
    final TimerWheel wheel;
    final ExchangeObserver observer;
    final LoopGate gate;
    final ServerStream.Pause pause; // of who is refused for want of room
    final LocalReply replies = new LocalReply(System::currentTimeMillis);
    final RequestIds requestIds = new RequestIds();
    final Traces traces = new Traces();
    final OddNameGuard oddNames;
    final ReadingLog readings;
    private @Nullable GenerationRef[] tenures = {}; // by listener
    private final Set<TunnelExchange> tunnels = new LinkedHashSet<>(); // in the order in which they were opened
    private long tunnelsOpened;
    private int active;

    /** Makes the handler of an event loop that has room for every request: for tests. */
    public ExchangeHandler(StreamOpener opener, TimerWheel wheel, ExchangeObserver observer) {
        this(opener, wheel, observer, LoopGate.OPEN);
    }

    /** Makes the handler of an event loop; {@link #use} must follow before its first request. */
    public ExchangeHandler(StreamOpener opener, TimerWheel wheel, ExchangeObserver observer, LoopGate gate) {
        this.gate = gate;
        this.opener = opener;
        this.wheel = wheel;
        this.oddNames = new OddNameGuard(wheel);
        this.readings = new ReadingLog(wheel);
        this.observer = observer;
        this.pause = closing -> gate.refuse(wheel.nanoTime(), closing);
    }

    /**
     * Serves requests that begin from now on by another generation. A listener that it does not have keeps the one it
     * has, until it is forgotten.
     *
     * @param ended run on this loop, once, when no listener and no exchange uses that generation any more
     */
    public void use(ExchangeSettings next, Runnable ended) {
        GenerationRef tenure = new GenerationRef(next, ended);
        tenure.begin();
        int listeners = next.listeners();
        if (listeners > tenures.length) {
            tenures = Arrays.copyOf(tenures, listeners);
        }
        for (int i = 0; i < listeners; i++) {
            if (next.serves(i)) {
                tenure.serve();
                replace(i, tenure);
            }
        }
        tenure.end();
    }

    /** A listener is gone: none of its connections is left. */
    public void forget(int listener) {
        if (listener < tenures.length) {
            replace(listener, null);
        }
    }

    private void replace(int listener, @Nullable GenerationRef next) {
        GenerationRef before = tenures[listener];
        tenures[listener] = next;
        if (before != null) {
            before.retire();
        }
    }

    private GenerationRef begin(ServerStream stream) {
        int listener = stream.connection().listener();
        GenerationRef tenure = listener < tenures.length ? tenures[listener] : null;
        if (tenure == null) {
            throw new IllegalStateException(
                    "no generation serves listener " + stream.connection().listenerName());
        }
        active++;
        tenure.begin();
        return tenure;
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        Exchange exchange = new Exchange(this, begin(stream), stream, head);
        exchange.begin(last);
        return exchange;
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        GenerationRef tenure = begin(stream);
        ExchangeRecord record = record(stream, head, tenure.settings());
        observer.onBegun(record);
        record.cause = failure.cause();
        record.detail = failure.detail();
        record.status = failure.status();
        record.requestId = RequestChecks.requestId(record.fields, record.fromProxy, tenure.settings(), requestIds);
        record.sentBytes = replies.send(
                stream, head, failure, tenure.settings(), new LocalReply.About(record.requestId, null, new Fields()));
        record.endNanos = wheel.nanoTime();
        completed(record, tenure);
    }

    /** Makes the record of a request that has just come. */
    ExchangeRecord record(ServerStream stream, @Nullable RequestHead head, ExchangeSettings settings) {
        ExchangeRecord record = new ExchangeRecord(stream.connection());
        record.generation = settings.generation();
        record.headNanos = stream.headNanos();
        record.startNanos = wheel.nanoTime();
        record.startMillis = wheel.wallMillis();
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
            Trace trace = traces.begin(record.fields, trusted, wanted);
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

    void completed(ExchangeRecord record, GenerationRef tenure) {
        active--;
        observer.onCompleted(record);
        tenure.end();
    }

    /** Takes note of a tunnel, and returns its number. */
    long open(TunnelExchange tunnel) {
        tunnels.add(tunnel);
        return ++tunnelsOpened;
    }

    void ended(TunnelExchange tunnel) {
        tunnels.remove(tunnel);
    }

    /**
     * Returns some of the open tunnels.
     *
     * @param after those numbered after this one
     * @param limit how many at most, the first in order
     */
    public List<OpenTunnel> tunnels(long after, int limit) {
        long now = wheel.nanoTime();
        return tunnels.stream()
                .filter(tunnel -> tunnel.number() > after)
                .limit(limit)
                .map(tunnel -> tunnel.view(now))
                .toList();
    }

    /** Returns how many exchanges this loop carries. */
    public int active() {
        return active;
    }
}
