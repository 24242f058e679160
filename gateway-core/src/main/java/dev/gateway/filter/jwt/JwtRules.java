package dev.gateway.filter.jwt;

import java.util.List;
import java.util.Set;

/**
 * What signed tokens must be like, and what is read from them. Two filters with the same rules and keys share the tokens that
 * they have verified.
 *
 * @param providers who signs tokens, each with another issuer
 * @param required claims, all of which a token must have
 * @param headerClaims claims that become header fields
 * @param usedClaims claims that other filters use
 * @param identityClaim says who the client is
 * @param requiresExpiration whether a token must say when it ends
 */
public record JwtRules(
        List<Provider> providers,
        List<Required> required,
        List<String> headerClaims,
        List<String> usedClaims,
        String identityClaim,
        boolean requiresExpiration) {
    public JwtRules {
        providers = List.copyOf(providers);
        required = List.copyOf(required);
        headerClaims = List.copyOf(headerClaims);
        usedClaims = List.copyOf(usedClaims);
    }

    /**
     * Who signs tokens.
     *
     * @param audiences one of which a token must have; empty if it does not matter
     * @param algorithms of signatures that are accepted
     */
    public record Provider(String issuer, Set<String> audiences, Set<String> algorithms) {
        public Provider {
            audiences = Set.copyOf(audiences);
            algorithms = Set.copyOf(algorithms);
        }
    }

    /**
     * A claim that a token must have.
     *
     * @param values one of which it must have; empty for any
     */
    public record Required(String claim, Set<String> values) {
        public Required {
            values = Set.copyOf(values);
        }
    }
}
