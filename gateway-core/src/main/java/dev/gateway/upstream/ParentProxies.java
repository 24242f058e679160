package dev.gateway.upstream;

import org.jspecify.annotations.Nullable;

/** Says through which proxy a destination is reached. Immutable, shared by all event loops. */
public interface ParentProxies {
    /** No parents: every destination is dialled. */
    ParentProxies NONE = (host, port) -> null;

    /** Returns the parent for a destination, or null to dial it directly. */
    @Nullable
    ParentProxy parentOf(String host, int port);
}
