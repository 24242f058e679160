package dev.gateway.connect;

import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Policy selection by identity. Which policy holds for whom, in one entry: the first that names the identity or one of its
 * groups. Immutable.
 */
public final class Policies {
    private final ConnectPolicy otherwise;
    private final List<Assigned> assigned;

    /** A policy and those it is for. */
    public record Assigned(Set<String> identities, Set<String> groups, ConnectPolicy policy) {
        public Assigned {
            identities = Set.copyOf(identities);
            groups = Set.copyOf(groups);
        }

        boolean names(Identity identity) {
            return identities.contains(identity.name()) || !Collections.disjoint(groups, identity.groups());
        }
    }

    /**
     * Puts policies in order.
     *
     * @param otherwise for those whom no other names, and for who is not known
     */
    public Policies(ConnectPolicy otherwise, List<Assigned> assigned) {
        this.otherwise = otherwise;
        this.assigned = List.copyOf(assigned);
    }

    /** Returns the policy of a client, null for one that is not known. */
    public ConnectPolicy of(@Nullable Identity identity) {
        if (identity != null) {
            for (int i = 0; i < assigned.size(); i++) {
                if (assigned.get(i).names(identity)) {
                    return assigned.get(i).policy();
                }
            }
        }
        return otherwise;
    }

    /**
     * Returns what would become of a CONNECT, as far as it is known before a name is resolved; null if it names no valid
     * target. Safe from any thread.
     */
    public @Nullable Decision explain(String authority, @Nullable Identity identity) {
        Target target = Target.parse(new AsciiString(authority), 0);
        return target == null ? null : of(identity).decide(target);
    }

    ConnectPolicy otherwise() {
        return otherwise;
    }

    List<Assigned> assigned() {
        return assigned;
    }
}
