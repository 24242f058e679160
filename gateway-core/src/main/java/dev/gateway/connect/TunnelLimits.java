package dev.gateway.connect;

import dev.gateway.config.ConnectConfig.Limits;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientNetwork;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Identity;

/**
 * Tunnel limits: limits how many tunnels, and requests forwarded like them, are open at a time. Comes after what refuses
 * requests for other reasons, so that only what goes upstream is counted.
 */
public final class TunnelLimits implements Filter {
    private static final Verdict OVERLOAD = new Verdict.Refuse(Failure.of(Cause.OVERLOAD, "too many tunnels are open"));

    private final Limits limits;
    private final Policies policies;
    private final TunnelCounts counts;

    /** Makes the filter of an entry; policies have limits of their own besides. */
    public TunnelLimits(Limits limits, Policies policies, TunnelCounts counts) {
        this.limits = limits;
        this.policies = policies;
        this.counts = counts;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        if (!counts.tryAdd(limits.maxTunnels())) {
            return OVERLOAD;
        }
        ClientNetwork client = context.client().network();
        if (!counts.clients().tryAdd(client, limits.maxTunnelsPerClient())) {
            counts.remove();
            return limited("this client's address");
        }
        ConnectPolicy.Settings policy = policies.of(context.identity()).settings();
        if (!counts.policies().tryAdd(policy.name(), policy.maxTunnels())) {
            counts.clients().remove(client);
            counts.remove();
            return limited("policy " + policy.name());
        }
        Identity identity = context.identity();
        if (identity != null && !counts.identities().tryAdd(identity.name(), limits.maxTunnelsPerIdentity())) {
            counts.policies().remove(policy.name());
            counts.clients().remove(client);
            counts.remove();
            return limited("this identity");
        }
        return Verdict.PROCEED;
    }

    @Override
    public void onEnd(FilterContext context) {
        Identity identity = context.identity();
        if (identity != null) {
            counts.identities().remove(identity.name());
        }
        counts.policies().remove(policies.of(identity).settings().name());
        counts.clients().remove(context.client().network());
        counts.remove();
    }

    private static Verdict limited(String whose) {
        return new Verdict.Refuse(Failure.of(Cause.RATE_LIMITED, "too many tunnels are open for " + whose));
    }
}
