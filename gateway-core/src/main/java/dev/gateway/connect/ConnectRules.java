package dev.gateway.connect;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.upstream.dial.AddressPolicy;
import java.net.InetAddress;
import java.util.function.Function;

/**
 * CONNECT policy filter. Lets a request to another host pass if the client's policy allows its target, and has it dialed as
 * it was judged: the head's authority is brought into the form that was looked at. In audit mode what is refused is let
 * through too, except for targets that cannot be read in one way only, and addresses that are not public.
 */
public final class ConnectRules implements Filter {
    private final Policies policies;
    private final Function<ConnectPolicy, AddressPolicy> addresses;
    private final ConnectTally tally;
    private final boolean audit;

    /**
     * Makes the filter of an entry.
     *
     * @param addresses what judges, for each policy, a target that is an address: at once, and even if another proxy is
     *     to dial it
     */
    public ConnectRules(
            Policies policies, Function<ConnectPolicy, AddressPolicy> addresses, ConnectTally tally, boolean audit) {
        this.policies = policies;
        this.addresses = addresses;
        this.tally = tally;
        this.audit = audit;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Target target = Target.of(head);
        if (target == null) {
            return new Verdict.Refuse(Failure.of(Cause.CLIENT_PROTOCOL_ERROR, "the target is not a host and a port"));
        }
        ConnectPolicy policy = policies.of(context.identity());
        Decision decision = policy.decide(target);
        if (audit) {
            tally.audit().seen(target, decision);
        }
        Cause cause = decision.cause();
        if (cause != null) {
            tally.denied(context.connection().listenerName(), decision.rule());
            if (!audit || target.odd()) {
                return new Verdict.Refuse(Failure.of(cause, describe(target, decision)));
            }
        }
        InetAddress address = target.address(); // also in audit mode, for a parent proxy would dial it unseen
        String prohibited =
                address == null ? null : addresses.apply(policy).refuse(target.host(), address, target.port());
        if (prohibited != null) {
            return new Verdict.Refuse(Failure.of(Cause.POLICY_ADDRESS, target + ": " + prohibited));
        }
        if (!target.isWritten(head.authority())) {
            head.setAuthority(target.rewrite(head.authority()));
        }
        return Verdict.PROCEED;
    }

    private static String describe(Target target, Decision decision) {
        return target + ": " + decision.reason() + " (" + decision.rule() + ")";
    }
}
