package dev.gateway.config.upstream;

import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Session persistence: a cookie that keeps a client at the endpoint that answered it.
 *
 * @param sessionName of the cookie
 * @param absoluteTimeout after which a session ends, null for never; whole seconds, at least one
 * @param sameSite to which requests browsers add the cookie
 * @param keyFile the keys that sign the cookie, one a line
 */
public record SessionPersistenceConfig(
        Position position, String sessionName, @Nullable Duration absoluteTimeout, SameSite sameSite, Path keyFile) {

    /** To which requests that begin at pages of other sites a browser adds the cookie. */
    public enum SameSite {
        /** Those that open a page. */
        LAX("Lax"),
        /** None. */
        STRICT("Strict"),
        /** All, if the client uses HTTPS; else as {@link #LAX}. */
        NONE("None");

        private final String word;

        SameSite(String word) {
            this.word = word;
        }

        /** Returns the word of the cookie's attribute. */
        @Override
        public String toString() {
            return word;
        }
    }
}
