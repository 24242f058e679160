package dev.gateway.filter.bodylimit;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;

/** Request body size limit: refuses a larger Content-Length at once, and fails any other body when it exceeds the limit. */
public final class BodyLimit implements Filter {
    private final long maxBytes;

    /** Creates the filter. The limit is at least one byte. */
    public BodyLimit(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public boolean onlyLimits() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        if (head.contentLength() > maxBytes) {
            return new Verdict.Refuse(Failure.of(
                    Cause.BODY_TOO_LARGE,
                    "Content-Length " + head.contentLength() + " is more than " + maxBytes + " bytes ("
                            + BodyLimitFeature.NAME + ")"));
        }
        context.limitRequestBody(maxBytes, BodyLimitFeature.NAME);
        return Verdict.PROCEED;
    }
}
