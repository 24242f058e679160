package dev.gateway.assembly;

import dev.gateway.config.SessionKeyFile;
import dev.gateway.config.SessionPersistenceConfig;
import dev.gateway.config.UpstreamConfig;
import dev.gateway.process.StartException;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Session persistence factory. Reads the keys that sessions of an upstream are signed with, at each reload. */
final class SessionAssembly {
    private static final Logger log = LoggerFactory.getLogger(SessionAssembly.class);

    private SessionAssembly() {}

    static Upstream addTo(Upstream upstream, @Nullable SessionPersistenceConfig config) throws StartException {
        if (config == null) {
            return upstream;
        }
        Duration timeout = config.absoluteTimeout();
        try {
            return upstream.persist(new SessionPersistence(
                    upstream.name(),
                    config.sessionName(),
                    keys(config),
                    timeout == null ? 0 : timeout.toSeconds(),
                    () -> System.currentTimeMillis() / 1000)); // all replicas need the same, also after a restart
        } catch (IOException e) {
            throw Conversions.failure(config.position(), e);
        }
    }

    /** Reads the keys of an upstream that stays. They were read before, to check the configuration. */
    static void renew(Upstream upstream, @Nullable UpstreamConfig config) {
        SessionPersistence sessions = upstream.sessions();
        if (sessions == null || config == null || config.sessionPersistence() == null) {
            return;
        }
        try {
            sessions.useKeys(keys(config.sessionPersistence()));
        } catch (IOException e) {
            log.warn("Sessions of upstream {} keep their former keys: {}", upstream.name(), e.getMessage());
        }
    }

    private static List<String> keys(SessionPersistenceConfig config) throws IOException {
        return SessionKeyFile.read(config.keyFile());
    }
}
