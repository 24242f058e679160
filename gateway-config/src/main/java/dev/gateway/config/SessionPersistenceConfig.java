package dev.gateway.config;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Session persistence: a cookie that keeps a client at the endpoint that answered it.
 *
 * @param sessionName of the cookie
 * @param absoluteTimeout after which a session ends, null for never; whole seconds, at least one
 * @param keyFile the keys that sign the cookie, one a line
 */
public record SessionPersistenceConfig(
        Position position, String sessionName, @Nullable Duration absoluteTimeout, Path keyFile) {}
