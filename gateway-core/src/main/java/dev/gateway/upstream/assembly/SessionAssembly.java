package dev.gateway.upstream.assembly;

import dev.gateway.config.file.SessionKeyFile;
import dev.gateway.config.upstream.SessionPersistenceConfig;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterStates;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Session persistence factory. */
public final class SessionAssembly {
    private SessionAssembly() {}

    /** The key of a file of session keys among the states of filters. */
    private record Keys(Path file) {}

    static Upstream addTo(Upstream upstream, @Nullable SessionPersistenceConfig config, FilterStates.Prepared states)
            throws StartException {
        if (config == null) {
            return upstream;
        }
        Duration timeout = config.absoluteTimeout();
        return upstream.persist(new SessionPersistence(
                upstream.name(),
                config.sessionName(),
                keys(upstream.name(), config, states),
                timeout == null ? 0 : timeout.toSeconds(),
                config.sameSite(),
                () -> System.currentTimeMillis() / 1000)); // all replicas need the same, also after a restart
    }

    /** Has the keys of an upstream that stays in another generation followed there, too. */
    public static void keep(Upstream upstream, @Nullable SessionPersistenceConfig config, FilterStates.Prepared states)
            throws StartException {
        if (config != null) {
            keys(upstream.name(), config, states);
        }
    }

    /** Returns the keys of the file as it is now: it is watched, and what cannot be used changes nothing. */
    private static Supplier<List<String>> keys(
            String upstream, SessionPersistenceConfig config, FilterStates.Prepared states) throws StartException {
        FilterFile.Use use =
                new FilterFile.Use(config.position(), "sessionPersistence of upstream " + upstream, "keys");
        return FilterFile.of(new Keys(config.keyFile()), config.keyFile(), SessionKeyFile::read, use, states);
    }
}
