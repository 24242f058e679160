package dev.gateway.upstream;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parent proxy selection: says through which proxy a destination is reached. Immutable or safe from any event loop. */
public interface ParentProxies {
    /** No parents: every destination is dialed. */
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

    /** Returns every parent that there is. */
    List<ParentProxy> all();

    /** Returns what judges the addresses of parents, null to dial any. */
    @Nullable
    AddressPolicy addresses();
}
