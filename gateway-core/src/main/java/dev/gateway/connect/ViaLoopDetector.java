package dev.gateway.connect;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ViaSignature;

/**
 * Detects forwarding loops by {@code Via} (RFC 9110, section 7.6.3): signs requests to other hosts, and refuses what comes
 * back so signed. Immutable; one for each connect entry, since a
 * request that leaves by one and comes back by another, as when a filtering proxy stands between them, may well end there.
 */
public final class ViaLoopDetector implements Filter {
    private final ViaSignature signature;

    /** Makes a guard that signs so. */
    public ViaLoopDetector(ViaSignature signature) {
        this.signature = signature;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        if (signature.isIn(head.fields())) {
            return new Verdict.Refuse(Failure.of(
                    Cause.LOOP_DETECTED, "forwarding loop: the request already passed this entry, as " + signature));
        }
        signature.sign(head.fields(), context.connection().version());
        return Verdict.PROCEED;
    }
}
