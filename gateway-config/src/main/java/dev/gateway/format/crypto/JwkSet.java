package dev.gateway.format.crypto;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * JSON Web Key Set (RFC 7517): public keys that verify signatures of tokens. Two sets are equal if their texts are.
 * Immutable.
 */
public final class JwkSet {
    /** Signatures that are verified: those of private keys, whose public keys may be known to anybody. */
    public static final List<String> ALGORITHMS =
            List.of("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA");

    /** Without keys, as long as none are known. */
    public static final JwkSet NONE = new JwkSet("", List.of());

    private final String text;
    private final List<VerificationKey> keys;

    private JwkSet(String text, List<VerificationKey> keys) {
        this.text = text;
        this.keys = List.copyOf(keys);
    }

    /**
     * Reads a text.
     *
     * @param where it comes from, for messages
     * @throws IOException if it has no keys, or one that cannot be used
     */
    public static JwkSet parse(String where, String text) throws IOException {
        return parse(where, text, unusable -> {
            throw new IllegalArgumentException(unusable);
        });
    }

    /**
     * Reads a text that somebody else writes, and leaves out the keys that cannot be used (RFC 7517, section 5).
     *
     * @param where it comes from, for messages
     * @param unusable takes a message for each of them
     * @throws IOException if it has no keys that can be used
     */
    public static JwkSet parse(String where, String text, Consumer<String> unusable) throws IOException {
        try {
            return new JwkSet(text, JwkParser.keys(text, unusable));
        } catch (IllegalArgumentException e) {
            throw new IOException(where + ": " + e.getMessage(), e);
        } catch (NoClassDefFoundError e) {
            throw missing(e);
        }
    }

    /**
     * Makes sure that sets can be read.
     *
     * @throws IOException if the library for that is missing
     */
    public static void requireParser() throws IOException {
        try {
            JwkParser.load();
        } catch (NoClassDefFoundError e) {
            throw missing(e);
        }
    }

    private static IOException missing(NoClassDefFoundError e) { // for programs that embed the gateway it is optional
        return new IOException("JWT needs the library jose4j: add org.bitbucket.b_c:jose4j to the class path", e);
    }

    /** Whether there are no keys. */
    public boolean isEmpty() {
        return keys.isEmpty();
    }

    /** Counts the keys. */
    public int size() {
        return keys.size();
    }

    /**
     * Returns the keys that a signature may be of: those with the id that the token names, and those without any. If the
     * token names none, it may be of all keys.
     */
    public List<VerificationKey> find(@Nullable String id, String algorithm) {
        return keys.stream()
                .filter(key -> key.algorithms().contains(algorithm))
                .filter(key -> id == null || key.id() == null || key.id().equals(id))
                .toList();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof JwkSet set && text.equals(set.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return keys.size() + " keys";
    }
}
