package dev.gateway.filter;

import dev.gateway.stream.Failure;
import org.jspecify.annotations.Nullable;

/** Defect of a filter that is not the gateway's own. The exchange ends with the failure, whatever it was doing. */
public final class FilterDefect extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable Failure failure;

    /** Makes it of what the exchange fails with, and what the filter threw. */
    public FilterDefect(Failure failure, Throwable cause) {
        super(failure.detail(), cause, false, false);
        this.failure = failure;
    }

    /** Returns what the exchange fails with; null only in a copy that was serialized. */
    public @Nullable Failure failure() {
        return failure;
    }
}
