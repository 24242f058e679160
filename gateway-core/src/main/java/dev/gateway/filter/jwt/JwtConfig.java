package dev.gateway.filter.jwt;

import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.ShownCredentials;
import dev.gateway.config.value.Position;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Token filter settings: holders of signed tokens (JSON Web Tokens) may use a route.
 *
 * @param providers who signs tokens; each has another issuer
 * @param requiredClaims all of which a token must have
 * @param identityClaim the claim that says who the client is
 * @param place where requests show their token
 * @param name of the header field, query parameter or cookie
 * @param forwardToken whether the upstream gets the token
 * @param leeway how much clocks may differ
 * @param requireExpiration whether a token must say when it ends
 * @param maxTokenSize in bytes
 */
public record JwtConfig(
        Position position,
        List<Provider> providers,
        List<RequiredClaim> requiredClaims,
        List<ClaimHeader> claimsToHeaders,
        String identityClaim,
        CredentialPlace place,
        String name,
        boolean forwardToken,
        Duration leeway,
        boolean requireExpiration,
        long maxTokenSize,
        String realm)
        implements FilterConfig {
    public JwtConfig {
        providers = List.copyOf(providers);
        requiredClaims = List.copyOf(requiredClaims);
        claimsToHeaders = List.copyOf(claimsToHeaders);
    }

    @Override
    public String type() {
        return JwtFeature.NAME;
    }

    @Override
    public String summary() {
        return type() + ": tokens of "
                + providers.stream().map(Provider::summary).collect(Collectors.joining(" or "))
                + requiredClaims.stream().map(RequiredClaim::summary).collect(Collectors.joining());
    }

    @Override
    public List<CaFile> caFiles() {
        return providers.stream().map(each -> new CaFile(each, each.caFile())).toList();
    }

    @Override
    public boolean verifiesClaims() {
        return true;
    }

    @Override
    public ShownCredentials credentials() {
        return new ShownCredentials(place, name, !forwardToken);
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }

    /**
     * Who signs tokens.
     *
     * @param issuer as the claim {@code iss} has it
     * @param audiences one of which the claim {@code aud} must have; empty if it does not matter
     * @param jwksFile a JSON Web Key Set, null if the keys come from a URL
     * @param jwksUrl where the gateway fetches the set, null if it is a file
     * @param caFile who vouches for the server of the URL, null for the platform's authorities
     * @param algorithms of signatures that are accepted
     */
    public record Provider(
            Position position,
            String issuer,
            List<String> audiences,
            @Nullable Path jwksFile,
            @Nullable String jwksUrl,
            @Nullable Path caFile,
            List<String> algorithms) {
        public Provider {
            audiences = List.copyOf(audiences);
            algorithms = List.copyOf(algorithms);
        }

        /** Returns the scheme, host and port of the URL, which is not null. They are incomplete if the URL is not valid. */
        public String origin() {
            URI url = URI.create(Objects.requireNonNull(jwksUrl));
            return (url.getScheme() + "://" + url.getRawAuthority()).toLowerCase(Locale.ROOT);
        }

        private String summary() {
            return issuer + (audiences.isEmpty() ? "" : " for " + String.join(" or ", audiences));
        }
    }

    /**
     * A claim that tokens must have.
     *
     * @param values one of which it must have; empty for any
     */
    public record RequiredClaim(Position position, String name, List<String> values) {
        public RequiredClaim {
            values = List.copyOf(values);
        }

        private String summary() {
            return ", with " + name + (values.isEmpty() ? "" : " " + String.join(" or ", values));
        }
    }

    /** A claim, and the header field in which the upstream gets it. */
    public record ClaimHeader(Position position, String claim, String header) {}
}
