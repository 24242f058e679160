package dev.gateway.filter.jwt;

import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What became of a token: all that does not depend on the time. Immutable. */
sealed interface JwtResult {
    /**
     * A token that the provider has signed, for this audience.
     *
     * @param identity who the client is, null if the token does not say
     * @param headers values of header fields, in the order of the rules
     * @param claims texts of the claims that limits count by, by their names
     * @param notBefore from when on it counts, in seconds since 1970
     * @param expires when it ends, in seconds since 1970
     * @param lacks what it lacks to be let pass, as a log says it; empty if nothing
     */
    record Valid(
            @Nullable Identity identity,
            List<Optional<AsciiString>> headers,
            Map<String, String> claims,
            long notBefore,
            long expires,
            String lacks)
            implements JwtResult {
        private static final int HEADER_BYTES = 56;
        private static final int CLAIM_BYTES = 48;

        public Valid {
            headers = List.copyOf(headers);
            claims = Map.copyOf(claims);
        }

        /** Returns about how many bytes its texts take. */
        int textSize() {
            int size = identity == null ? 0 : 2 * identity.name().length();
            for (Optional<AsciiString> header : headers) {
                size += header.isPresent() ? header.get().length() : 0;
            }
            for (String claim : claims.values()) {
                size += 2 * claim.length();
            }
            return size;
        }

        /** Returns about how many bytes its texts take, with the objects that hold them. */
        int size() {
            return textSize() + HEADER_BYTES * headers.size() + CLAIM_BYTES * claims.size();
        }
    }

    /**
     * A token whose key is not among those of its issuer, which may have others by now.
     *
     * @param provider its index in the rules
     */
    record NoKey(int provider) implements JwtResult {}

    /** A token that is wrong, and why, as a log says it. */
    record Invalid(String why) implements JwtResult {}
}
