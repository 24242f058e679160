package dev.gateway.exchange;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.filter.MirrorResult;
import dev.gateway.filter.MirrorTarget;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.trace.Trace;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The copies of one request for other upstreams. They get what goes upstream: after the filters, and once, however often the
 * request is sent again. They never hold up or fail the request: they give no credit, and what they throw ends the copy only.
 */
final class Mirrors {
    private static final Logger log = LoggerFactory.getLogger(Mirrors.class);

    private final ExchangeContext exchange;
    private final GenerationRef generation;
    private final List<MirrorTarget> targets;
    private final long attemptMillis;
    private final boolean tellsEndpoint;
    private final List<Mirror> copies = new ArrayList<>(1);
    private boolean begun;

    /**
     * Makes copies that have not begun.
     *
     * @param attemptMillis maximum time for an attempt of the rule, 0 for no limit
     * @param tellsEndpoint whether endpoints are told their own host instead of the client's
     */
    Mirrors(
            ExchangeContext exchange,
            GenerationRef generation,
            List<MirrorTarget> targets,
            long attemptMillis,
            boolean tellsEndpoint) {
        this.exchange = exchange;
        this.generation = generation;
        this.targets = targets;
        this.attemptMillis = attemptMillis;
        this.tellsEndpoint = tellsEndpoint;
    }

    /** The head is about to be sent upstream. Does nothing for another attempt. */
    void begin(boolean bodyless) {
        if (begun) {
            return;
        }
        begun = true;
        for (MirrorTarget target : targets) {
            make(target);
        }
        each(copy -> copy.begin(bodyless));
    }

    private void make(MirrorTarget target) {
        if (!Mirror.mayBegin(exchange)) {
            count(target, MirrorResult.OVERLOAD);
            return;
        }
        try {
            copies.add(new Mirror(exchange, generation, target, head(), attemptMillis));
        } catch (OutOfMemoryError e) {
            log.error("Making no copy of a request for {}: {}", target.upstream(), e.toString());
            count(target, MirrorResult.OVERLOAD);
        } catch (RuntimeException e) {
            log.error("Making no copy of a request for {}", target.upstream(), e);
            count(target, MirrorResult.BROKEN);
        }
    }

    private static void count(MirrorTarget target, MirrorResult result) {
        target.tally().onBegun();
        target.tally().onEnded(result);
    }

    private RequestHead head() {
        RequestHead head = exchange.head.copy();
        if (tellsEndpoint) {
            head.setAuthority(AsciiString.EMPTY_STRING);
        }
        TracingConfig traces = exchange.settings().traces();
        Trace trace = exchange.record.trace;
        if (trace != null && trace.isRecorded() && traces != null) {
            exchange.loop.traces.forward(head.fields(), trace, traces); // not the span of the attempt
        }
        return head;
    }

    /** A piece of the body is about to be sent upstream. The caller keeps its ownership; {@link #write} must follow. */
    void add(ByteBuf data, boolean last) {
        each(copy -> copy.add(data.retainedSlice(), last)); // a slice: nobody can write behind it, as TLS does
    }

    /** The trailers are about to be sent upstream; {@link #write} must follow. */
    void addTrailers(Fields trailers) {
        each(copy -> copy.addTrailers(trailers));
    }

    /** Writes what the upstreams of the copies take now; {@link #send} must follow. */
    void write() {
        each(Mirror::write);
    }

    /** Sends what was written and what waits. */
    void send() {
        each(Mirror::send);
    }

    /** The client has gone before the response was complete. */
    void abort() {
        each(Mirror::abort);
    }

    /** The exchange is over. Copies of complete requests continue. */
    void end() {
        each(Mirror::onExchangeEnded);
    }

    private void each(Consumer<Mirror> action) {
        for (Mirror copy : copies) {
            try {
                action.accept(copy);
            } catch (RuntimeException | OutOfMemoryError e) {
                end(copy, e);
            }
        }
    }

    private static void end(Mirror copy, Throwable defect) {
        try {
            copy.onDefect(defect);
        } catch (RuntimeException | OutOfMemoryError e) {
            log.error("The copy of a request has ended with another defect: {}", e.toString());
        }
    }
}
