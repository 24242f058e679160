package dev.gateway.upstream.dial;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parent proxy selection: through which proxy the gateway reaches a destination. Immutable or safe from any event loop. */
public interface ParentProxies {
    /** No parents: the gateway connects to every destination directly. */
    ParentProxies NONE = new ParentProxies() {
        @Override
        public @Nullable ParentProxy parentOf(String host, int port) {
            return null;
        }

        @Override
        public List<ParentProxy> all() {
            return List.of();
        }

        @Override
        public @Nullable AddressPolicy addresses() {
            return null;
        }
    };

    /** Returns the parent for a destination, or null to dial it directly. */
    @Nullable
    ParentProxy parentOf(String host, int port);

    /** Returns all parents. */
    List<ParentProxy> all();

    /** Returns the policy for the addresses of parents themselves, null to allow all. */
    @Nullable
    AddressPolicy addresses();
}
