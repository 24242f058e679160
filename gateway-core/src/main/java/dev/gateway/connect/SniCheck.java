package dev.gateway.connect;

import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.Filter;
import dev.gateway.filter.InspectionContext;
import dev.gateway.message.RequestHead;
import dev.gateway.net.tls.ClientHello;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * SNI check: compares the host that a tunnel was opened to with the one that TLS then asks for in it, so that an allowed
 * name cannot be a cover for another one at the same address. Looks at the first flight of the client only, and decrypts
 * nothing.
 */
public final class SniCheck implements Filter {
    private static final String RULE = "sni";

    private final Policies policies;
    private final ConnectTally tally;
    private final boolean audit;

    /** Makes the filter of an entry; in audit mode it only remarks. */
    public SniCheck(Policies policies, ConnectTally tally, boolean audit) {
        this.policies = policies;
        this.tally = tally;
        this.audit = audit;
    }

    @Override
    public @Nullable BodyInspector inspector(RequestHead head, InspectionContext context) {
        ConnectPolicy policy = policies.of(context.identity());
        Sni mode = policy.settings().sni();
        Target target = head.isConnect() && mode != Sni.OFF ? Target.of(head) : null;
        return target == null
                ? null
                : new Inspector(target, mayBeUnnamed(target, policy), mode == Sni.MUST_MATCH, context);
    }

    /**
     * Whether a ClientHello without a server name may ask for the target. An address is not asked for by name (RFC 6066,
     * section 3). Java's JSSE also sends no name without a dot. Such a name then has to be listed itself: what listed it by
     * chance, such as {@code *}, would make it a cover for others.
     */
    private static boolean mayBeUnnamed(Target target, ConnectPolicy policy) {
        return target.address() != null || (target.host().indexOf('.') < 0 && policy.names(target));
    }

    /** Looks at one tunnel. */
    private final class Inspector implements BodyInspector {
        private final Target target;
        private final boolean mayBeUnnamed;
        private final boolean must;
        private final InspectionContext context;

        Inspector(Target target, boolean mayBeUnnamed, boolean must, InspectionContext context) {
            this.target = target;
            this.mayBeUnnamed = mayBeUnnamed;
            this.must = must;
            this.context = context;
        }

        @Override
        public Result inspect(ByteBuf soFar, boolean last) {
            ClientHello.Reading reading = ClientHello.read(soFar);
            if (reading instanceof ClientHello.Hello hello) {
                String name = hello.serverName();
                if (name != null) {
                    context.setTunnelServerName(name);
                }
                String problem = problem(name);
                return problem == null ? PASS : found(problem);
            } else if (reading instanceof ClientHello.Refused other) {
                return found(other.reason());
            }
            return last ? found("ended before a whole ClientHello") : MORE;
        }

        private @Nullable String problem(@Nullable String serverName) {
            if (serverName == null) {
                return mayBeUnnamed ? null : "a ClientHello without a server name";
            }
            return serverName.equals(target.host()) ? null : "a ClientHello for " + serverName;
        }

        private Result found(String problem) {
            if (must) {
                tally.denied(context.connection().listenerName(), RULE);
            }
            if (must && !audit) {
                return new Refuse(Failure.of(Cause.POLICY_SNI, target + ": " + problem));
            }
            tally.audit().remark(target + ": " + problem);
            return PASS;
        }
    }
}
