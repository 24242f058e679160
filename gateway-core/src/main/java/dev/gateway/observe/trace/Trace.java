package dev.gateway.observe.trace;

import dev.gateway.config.observe.TracingConfig.Propagator;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Trace context: the place of one exchange in a trace. Made by {@link Traces}, confined to the exchange's event loop. */
public final class Trace {
    private final long high;
    private final long low;
    private final long parent;
    private final long span;
    private final Flags flags;
    private AsciiString state = AsciiString.EMPTY_STRING;
    private long attempt;

    private Trace(long high, long low, long parent, long span, Flags flags) {
        this.high = high;
        this.low = low;
        this.parent = parent;
        this.span = span;
        this.flags = flags;
    }

    /**
     * What becomes of a trace here.
     *
     * @param sampled whether it is recorded by anybody, as upstreams are told
     * @param recorded whether the gateway itself records its spans
     * @param forwarded whether the head says all this already
     * @param spoken how the caller told it, null if it told nothing
     */
    record Flags(boolean sampled, boolean recorded, boolean forwarded, @Nullable Propagator spoken) {}

    static Trace of(RemoteContext context, long span, Flags flags) {
        return new Trace(context.high(), context.low(), context.span(), span, flags);
    }

    /** Returns the first half of the trace's id. */
    public long high() {
        return high;
    }

    /** Returns the second half of the trace's id. */
    public long low() {
        return low;
    }

    /** Returns the trace's id as 32 digits. */
    public String idText() {
        byte[] text = new byte[32];
        Hex.write(low, text, Hex.write(high, text, 0));
        return new String(text, StandardCharsets.US_ASCII);
    }

    /** Returns the exchange's span as 16 digits. */
    public String spanText() {
        byte[] text = new byte[16];
        Hex.write(span, text, 0);
        return new String(text, StandardCharsets.US_ASCII);
    }

    /** Returns the caller's span, 0 if the trace begins here. */
    public long parent() {
        return parent;
    }

    /** Returns the span of the exchange: our own, or if nothing is recorded here, the one before. */
    public long span() {
        return span;
    }

    /** Whether anybody is to record it, as upstreams are told. */
    public boolean isSampled() {
        return flags.sampled;
    }

    /** Whether the gateway records its spans. */
    public boolean isRecorded() {
        return flags.recorded;
    }

    boolean isForwarded() {
        return flags.forwarded;
    }

    @Nullable
    Propagator spoken() {
        return flags.spoken;
    }

    /** Returns what {@code tracestate} said, empty if that is nothing or the exchange is not recorded. */
    public AsciiString state() {
        return state;
    }

    void state(AsciiString told) {
        state = told;
    }

    /** Returns the span of the current attempt, 0 before the first and where nothing is recorded. */
    public long attempt() {
        return attempt;
    }

    void attempt(long next) {
        attempt = next;
    }
}
