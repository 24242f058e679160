package dev.gateway.filter.jwt.jwks;

import java.util.concurrent.Executor;

/** Makes sets of keys that are fetched. */
public interface KeyClient {
    /**
     * Returns a set that is fetched once it is started.
     *
     * @param parsing runs what takes too long for an event loop
     */
    RemoteKeys keys(KeyLocation location, Executor parsing);
}
