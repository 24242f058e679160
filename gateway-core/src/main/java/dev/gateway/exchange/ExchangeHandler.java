package dev.gateway.exchange;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.exchange.progress.ProgressWatch;
import dev.gateway.exchange.progress.UpstreamUse;
import dev.gateway.exchange.reply.GrpcStatus;
import dev.gateway.exchange.reply.LocalReply;
import dev.gateway.exchange.request.ClientFinder;
import dev.gateway.exchange.request.RequestChecks;
import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.exchange.settings.ListenerRoutes;
import dev.gateway.exchange.tunnel.OpenTunnel;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.trace.Trace;
import dev.gateway.observe.trace.TraceLink;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.SourceAddress;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The request handler of one event loop: makes an {@link Exchange} for each request. The generation that is active when it
 * begins serves it to its end. Confined to its loop, like everything it is made with except the settings.
 */
public final class ExchangeHandler implements RequestHandler {
    final LoopServices loop;
    private @Nullable GenerationRef[] generations = {}; // by listener
    private final Set<GenerationRef> inUse = new HashSet<>(); // these, and others that exchanges began with
    private final ProgressWatch progress = new ProgressWatch();

    /** Makes the handler of an event loop without limits for overload: for tests. */
    public ExchangeHandler(StreamOpener opener, TimerWheel wheel, ExchangeObserver observer) {
        this(opener, wheel, observer, LoopGate.OPEN);
    }

    /** Makes the handler of an event loop; {@link #use} must follow before its first request. */
    public ExchangeHandler(StreamOpener opener, TimerWheel wheel, ExchangeObserver observer, LoopGate gate) {
        this.loop = new LoopServices(opener, wheel, observer, gate);
    }

    /**
     * Serves new requests by this generation. A listener that the generation does not have keeps its former one until
     * {@link #forget}.
     *
     * @param ended called on this loop, once, when no listener and no exchange uses the generation any more
     * @return what uses the generation on this loop
     */
    public GenerationRef use(ListenerRoutes next, Runnable ended) {
        GenerationRef generation = new GenerationRef(next, inUse, ended);
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
        return generation;
    }

    /** A listener was removed, and all its connections are closed. */
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
        ExchangeSettings settings =
                generation.routes().settings(stream.connection().listener());
        ExchangeRecord record = record(stream, head, settings);
        Exchange exchange = new Exchange(loop, generation, settings, stream, head, record);
        exchange.begin(last);
        return exchange;
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        GenerationRef generation = begin(stream);
        ExchangeSettings settings =
                generation.routes().settings(stream.connection().listener());
        ExchangeRecord record = record(stream, head, settings);
        loop.observer.onBegun(record);
        record.cause = failure.cause();
        record.detail = failure.detail();
        record.status = failure.status();
        record.requestId = RequestChecks.requestId(record.fields, record.fromProxy, settings, loop.requestIds);
        try {
            record.sentBytes = loop.replies.send(
                    stream,
                    head,
                    settings.offersTunnels() ? failure : failure.advising(""), // which is about proxies
                    settings,
                    new LocalReply.About(record.requestId, null, new Fields(), errorBody(record, head, settings)));
        } finally {
            record.endNanos = loop.wheel.nanoTime();
            loop.end(record, generation);
        }
    }

    /** Returns the body of an error that comes before the exchange. */
    private static ErrorBody errorBody(ExchangeRecord record, @Nullable RequestHead head, ExchangeSettings settings) {
        return GrpcStatus.isForPrograms(head)
                ? ErrorBody.UNCHANGED
                : settings.errorBody(new ErrorAnswer(record.status, record.cause, false, head, record.requestId));
    }

    /** Makes the record of a new request. */
    private ExchangeRecord record(ServerStream stream, @Nullable RequestHead head, ExchangeSettings settings) {
        ExchangeRecord record = new ExchangeRecord(stream.connection());
        record.generation = settings.generation();
        record.headNanos = stream.headNanos();
        record.startNanos = loop.wheel.nanoTime();
        record.startMillis = loop.wheel.wallMillis();
        if (head != null) {
            record.kind = RequestChecks.kind(head);
            record.method = head.routedMethod();
            record.scheme = head.scheme();
            record.authority = head.authority();
            record.path = head.path();
            record.fields = head.fields();
        }
        ClientFinder.find(record, settings);
        if (record.fromProxy) {
            chargeClient(stream, record, settings.trust());
        }
        TracingConfig wanted = settings.traces();
        if (wanted != null) {
            boolean trusted = record.fromProxy || settings.trust().tracesOfAnyone();
            Trace trace = loop.traces.begin(record.fields, trusted, wanted);
            record.trace = trace;
            if (trace.isRecorded()) {
                record.sampledTrace = new TraceLink(trace.idText(), trace.spanText());
            }
        }
        return record;
    }

    /**
     * The connection of a trusted proxy has no share of the memory, but each of its clients has. Those without an address have
     * one together, whether the proxy hides it or says nothing.
     */
    private void chargeClient(ServerStream stream, ExchangeRecord record, ClientTrust trust) {
        SourceAddress client = trust.isProxy(record.client) ? SourceAddress.UNKNOWN : record.client;
        Account account = loop.gate.accountOf(client.network());
        if (account != null) {
            record.connection = record.connection.withAccount(account);
            stream.countFor(account);
        }
    }

    /**
     * Returns some of the open tunnels.
     *
     * @param after only tunnels with higher numbers than this
     * @param limit the maximum number, from the lowest on
     */
    public List<OpenTunnel> tunnels(long after, int limit) {
        return loop.tunnels.list(after, limit, loop.wheel.nanoTime());
    }

    /**
     * Finds out who keeps some upstreams busy, and which exchanges have made no progress since the last call because of their
     * clients.
     *
     * @param crowded the upstreams; none to forget what was seen by the last call
     */
    public Map<Upstream, UpstreamUse> look(Set<Upstream> crowded) {
        return progress.look(watch -> inUse.forEach(each -> each.showTo(watch)), crowded, loop.wheel.nanoTime());
    }

    /** Returns how many exchanges this loop carries. */
    public int active() {
        return loop.active();
    }
}
