package dev.gateway.filter.decompression;

import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Memory of one body's decompressor, beyond what every body of its coding takes. Charged until the exchange ends. */
public final class DecompressionMemory {
    private final LongPredicate tryHold;
    private long held;

    /**
     * Creates it.
     *
     * @param tryHold charges the client for so many more bytes; returns false, with nothing charged, if it is too much
     */
    public DecompressionMemory(LongPredicate tryHold) {
        this.tryHold = tryHold;
    }

    /** Charges for the memory that is needed now, unless more is charged already. Returns the failure if it is too much. */
    @Nullable
    Failure hold(long bytes) {
        if (bytes > held) {
            if (!tryHold.test(bytes - held)) {
                return shortage();
            }
            held = bytes;
        }
        return null;
    }

    /** Returns the failure of a request for which no memory is left. */
    static Failure shortage() {
        return Failure.of(Cause.OVERLOAD, "no memory is left to decompress a request's body");
    }
}
