package dev.gateway.format.crypto;

import java.security.PublicKey;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Public key that verifies signatures.
 *
 * @param id which tokens name it by; null if it has none
 * @param algorithms of signatures that it may verify, some of {@link JwkSet#ALGORITHMS}
 */
public record VerificationKey(@Nullable String id, Set<String> algorithms, PublicKey key) {
    public VerificationKey {
        algorithms = Set.copyOf(algorithms);
    }
}
