package dev.gateway.filter.access;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.format.CidrSet;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.net.InetAddress;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Client address filter: refuses requests of clients that are denied, or that are not among those allowed. Each list costs
 * one binary search. An IPv4 block also holds the IPv4-mapped IPv6 addresses. A client of a Unix-domain socket whose
 * address is not known is in no list.
 */
public final class IpAccess implements Filter {
    private final List<Supplier<CidrSet>> deny;
    private final @Nullable List<Supplier<CidrSet>> allow;

    /**
     * Makes the filter.
     *
     * @param deny lists of those who are refused; asked for each request, as files may change
     * @param allow lists of those who are not; null for all others
     */
    public IpAccess(List<Supplier<CidrSet>> deny, @Nullable List<Supplier<CidrSet>> allow) {
        this.deny = List.copyOf(deny);
        this.allow = allow == null ? null : List.copyOf(allow);
    }

    @Override
    public boolean guards() {
        return true;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        InetAddress client = context.client().ip();
        if (isIn(deny, client)) {
            return refuse(context, "is denied");
        }
        return allow == null || isIn(allow, client) ? Verdict.PROCEED : refuse(context, "is not among those allowed");
    }

    private static boolean isIn(List<Supplier<CidrSet>> lists, @Nullable InetAddress client) {
        if (client == null) {
            return false;
        }
        for (int i = 0; i < lists.size(); i++) {
            if (lists.get(i).get().contains(client)) {
                return true;
            }
        }
        return false;
    }

    private static Verdict refuse(FilterContext context, String why) {
        return new Verdict.Refuse(Failure.of(
                Cause.AUTHZ_DENIED, "client address " + context.client().text() + " " + why));
    }
}
