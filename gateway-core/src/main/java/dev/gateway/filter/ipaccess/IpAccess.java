package dev.gateway.filter.ipaccess;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;

/** Client address filter: refuses requests of clients that are denied, or that are not among those allowed. */
public final class IpAccess implements Filter {
    private final AccessList list;

    /** Makes the filter. */
    public IpAccess(AccessList list) {
        this.list = list;
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        String why = list.refusal(context.client().ip());
        return why == null
                ? Verdict.PROCEED
                : new Verdict.Refuse(Failure.of(
                        Cause.AUTHZ_DENIED, "client address " + context.client().text() + " " + why));
    }
}
