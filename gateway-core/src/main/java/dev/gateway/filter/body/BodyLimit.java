package dev.gateway.filter.body;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;

/** Request body size limit: refuses what is announced to be larger at once, and has any other body fail when it is. */
public final class BodyLimit implements Filter {
    private static final String NAME = "BodyLimit";

    private final long maxBytes;

    /** Makes the filter of a limit of at least one byte. */
    public BodyLimit(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        if (head.contentLength() > maxBytes) {
            return new Verdict.Refuse(Failure.of(
                    Cause.BODY_TOO_LARGE,
                    "announced " + head.contentLength() + " bytes of body: more than " + maxBytes + " (" + NAME + ")"));
        }
        context.limitRequestBody(maxBytes, NAME);
        return Verdict.PROCEED;
    }
}
