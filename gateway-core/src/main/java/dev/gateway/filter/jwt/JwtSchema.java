package dev.gateway.filter.jwt;

import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.ShownCredentials;
import dev.gateway.config.yaml.schema.connect.ConnectAuthSchema;
import dev.gateway.config.yaml.schema.filter.AuthFilterSchema;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.filter.fields.HeaderFieldSchema;
import dev.gateway.filter.jwt.JwtConfig.ClaimHeader;
import dev.gateway.filter.jwt.JwtConfig.RequiredClaim;
import dev.gateway.format.crypto.JwkSet;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Filter that asks for signed tokens, key by key. */
final class JwtSchema {
    private static final Duration MOST_LEEWAY = Duration.ofHours(1);
    private static final long LEAST_SIZE = 256;
    private static final long MOST_SIZE = 64 << 10;
    private static final String DEFAULT_HEADER = "Authorization";

    /** Claims that say for which application a token is, or by which one it was got. */
    private static final Set<String> OF_APPLICATIONS = Set.of("aud", "azp", "client_id");

    private static final ScalarType<String> WORD = Types.word("\\S+", "text without spaces");

    private static final String SHARED = "the gateway accepts no signatures by a shared secret";

    /** Algorithms with which everybody who can verify a token can also make one. */
    private static final Map<String, String> NEVER = Map.of(
            "hs256", SHARED,
            "hs384", SHARED,
            "hs512", SHARED,
            "none", "the gateway accepts no tokens without a signature");

    private static final ObjectType<JwtConfig.Provider> PROVIDER = ObjectType.of(
            "token provider", "An issuer of tokens. The issuer that a token names decides which keys verify it.", o -> {
                var issuer = o.required(
                        "issuer",
                        WORD,
                        JwtConfig.Provider::issuer,
                        "Issuer, exactly what tokens have in their claim iss.");
                var audiences = o.defaulted(
                        "audiences",
                        new ListType<>(Types.LINE, 0),
                        List.of(),
                        JwtConfig.Provider::audiences,
                        "Audiences, one of which the claim aud of a token must have. With [], the gateway does not check"
                                + " whom a token is for.");
                var file = o.optional(
                        "jwksFile",
                        Types.PATH,
                        JwtConfig.Provider::jwksFile,
                        "File with the public keys of the issuer, a JSON Web Key Set. The gateway reads it again when"
                                + " it changes.");
                var url = o.optional(
                        "jwksUrl",
                        Types.url(
                                "https?://[!-\"$-?A-~]+", // no '@', which credentials come before, and no '#'
                                "a URL such as https://id.example.com/jwks.json, without credentials and fragment"),
                        JwtConfig.Provider::jwksUrl,
                        "URL of the public keys of the issuer, its jwks_uri. The gateway fetches them in the background,"
                                + " again before they are too old, and when a token names a new key.");
                var caFile = o.optional(
                        "caFile",
                        Types.PATH,
                        JwtConfig.Provider::caFile,
                        "PEM file of the CA certificates for the server of jwksUrl, instead of the platform's. The"
                                + " gateway reads it again when it changes.");
                var algorithms = o.defaulted(
                        "algorithms",
                        new ListType<>(Types.words(algorithms(), Map.of(), NEVER), 1),
                        JwkSet.ALGORITHMS,
                        JwtConfig.Provider::algorithms,
                        "Algorithms of signatures that are accepted. A key verifies only those of its own kind.");
                o.foreign("jwksUri jwks remoteJwks url uri", "jwksUrl");
                o.foreign("aud audience", "audiences");
                o.foreign("iss", "issuer");
                o.foreign("secret signingSecret hmac", SHARED);
                o.exactlyOneOf("jwksFile", "jwksUrl");
                return v -> {
                    if (v.has("jwksFile")) {
                        check(v, v.find(file));
                    }
                    check(v, v.find(url), v.find(caFile) != null);
                    return new JwtConfig.Provider(
                            v.position(),
                            v.get(issuer),
                            v.get(audiences),
                            v.find(file),
                            v.find(url),
                            v.find(caFile),
                            v.get(algorithms));
                };
            });

    private static final ObjectType<RequiredClaim> REQUIRED_CLAIM = ObjectType.of(
            "required claim", "A claim that tokens must have. The gateway answers others with 403.", o -> {
                var name = o.required(
                        "name",
                        Types.LINE,
                        RequiredClaim::name,
                        "Name of the claim. A dot leads into an object, as in realm_access.roles.");
                var values = o.defaulted(
                        "values",
                        new ListType<>(Types.LINE, 0),
                        List.of(),
                        RequiredClaim::values,
                        "Values, one of which the claim must have. The claims scope and scp may have several values, "
                                + "with spaces between them. Without this key, every value is right.");
                o.pair("name", "values");
                return v -> new RequiredClaim(v.position(), v.get(name), v.get(values));
            });

    private static final ObjectType<ClaimHeader> CLAIM_HEADER = ObjectType.of(
            "claim header",
            "A claim that the upstream gets as a header field. The gateway removes fields of that name which the"
                    + " client sends.",
            o -> {
                var claim = o.required(
                        "claim",
                        Types.LINE,
                        ClaimHeader::claim,
                        "Name of the claim. A dot leads into an object, as in realm_access.roles.");
                var header = o.required("header", Types.HEADER_NAME, ClaimHeader::header, "Name of the header field.");
                o.pair("claim", "header");
                return v -> {
                    HeaderFieldSchema.refuseFraming(v, "header", v.get(header));
                    return new ClaimHeader(v.position(), v.get(claim), v.get(header));
                };
            });

    /** Settings. */
    static final ObjectType<JwtConfig> JWT = ObjectType.of(
            "jwt section",
            "Lets only holders of a signed token (JSON Web Token) use the route. The gateway answers others with 401.",
            o -> {
                var providers = o.required(
                        "providers",
                        new ListType<>(PROVIDER, 1),
                        JwtConfig::providers,
                        "Issuers of tokens, each with its keys.");
                var required = o.defaulted(
                        "requiredClaims",
                        new ListType<>(REQUIRED_CLAIM, 0),
                        List.of(),
                        JwtConfig::requiredClaims,
                        "Claims that a token must have, all of them.");
                var headers = o.defaulted(
                        "claimsToHeaders",
                        new ListType<>(CLAIM_HEADER, 0),
                        List.of(),
                        JwtConfig::claimsToHeaders,
                        "Claims that the upstream gets as header fields.");
                var identity = o.defaulted(
                        "identityClaim",
                        Types.LINE,
                        "sub",
                        JwtConfig::identityClaim,
                        "Claim that says who the client is, for the access log and for RateLimit.");
                var header = o.optional(
                        "header",
                        Types.HEADER_NAME,
                        jwt -> nameIn(jwt, CredentialPlace.HEADER),
                        "Header field that has the token, after 'Bearer ' or alone. Without this key, queryParameter"
                                + " and cookie it is Authorization, where 'Bearer ' is required.");
                var query = o.optional(
                        "queryParameter",
                        AuthFilterSchema.QUERY_PARAMETER,
                        jwt -> nameIn(jwt, CredentialPlace.QUERY_PARAMETER),
                        "Query parameter that has the token.");
                var cookie = o.optional(
                        "cookie",
                        AuthFilterSchema.COOKIE,
                        jwt -> nameIn(jwt, CredentialPlace.COOKIE),
                        "Cookie that has the token.");
                var forward = o.defaulted(
                        "forwardToken",
                        Types.BOOLEAN,
                        false,
                        JwtConfig::forwardToken,
                        "Whether the upstream gets the token.");
                var leeway = o.defaulted(
                        "leeway",
                        Types.DURATION,
                        Duration.ofMinutes(1),
                        JwtConfig::leeway,
                        "How much the clocks of issuer and gateway may differ. At most 1h.");
                var expiration = o.defaulted(
                        "requireExpiration",
                        Types.BOOLEAN,
                        true,
                        JwtConfig::requireExpiration,
                        "Whether a token must say when it ends (claim exp).");
                var size = o.defaulted(
                        "maxTokenSize",
                        Types.SIZE,
                        8L << 10,
                        JwtConfig::maxTokenSize,
                        "Maximum size of a token. At most 64KiB; limits.maxHeaderBytes of the listener counts as"
                                + " well.");
                var realm = o.defaulted(
                        "realm",
                        ConnectAuthSchema.REALM,
                        AuthFilterSchema.REALM,
                        JwtConfig::realm,
                        "Realm in WWW-Authenticate.");
                o.foreign("jwks jwksUri", "write providers: [{jwksUrl: …}]");
                o.foreign("audience aud", "write providers: [{audiences: …}]");
                AuthFilterSchema.inOnePlace(o, "a token");
                return v -> {
                    if (v.isSound()) {
                        audiences(v, v.get(providers), v.get(required));
                    }
                    differ(v, v.get(providers), "issuer", JwtConfig.Provider::issuer);
                    differ(v, v.get(headers), "header", each -> each.header().toLowerCase(Locale.ROOT));
                    if (v.get(leeway).compareTo(MOST_LEEWAY) > 0) {
                        v.error(v.at("leeway"), "leeway: expected at most 1h");
                    }
                    if (v.get(size) < LEAST_SIZE || v.get(size) > MOST_SIZE) {
                        v.error(v.at("maxTokenSize"), "maxTokenSize: expected 256 to 64KiB");
                    }
                    AuthFilterSchema.Place place =
                            AuthFilterSchema.place(v.find(header), v.find(query), v.find(cookie), DEFAULT_HEADER);
                    for (ClaimHeader each : v.get(headers)) {
                        if (place.place() == CredentialPlace.HEADER
                                && place.name().equalsIgnoreCase(each.header())) {
                            v.error(
                                    each.position(),
                                    "the header " + each.header() + " has the token: write another one");
                        }
                    }
                    return new JwtConfig(
                            v.position(),
                            v.get(providers),
                            v.get(required),
                            v.get(headers),
                            v.get(identity),
                            place.place(),
                            place.name(),
                            v.get(forward),
                            v.get(leeway),
                            v.get(expiration),
                            v.get(size),
                            v.get(realm));
                };
            });

    private JwtSchema() {}

    private static Map<String, String> algorithms() {
        Map<String, String> words = new LinkedHashMap<>();
        JwkSet.ALGORITHMS.forEach(each -> words.put(each, each));
        return words;
    }

    private static @Nullable String nameIn(JwtConfig jwt, CredentialPlace place) {
        return jwt.place() == place ? jwt.name() : null;
    }

    private static void check(Values v, @Nullable Path file) {
        try {
            if (file != null) {
                JwkSetFile.read(file);
            }
        } catch (IOException e) {
            v.error(v.at("jwksFile"), "jwksFile: " + e.getMessage());
        }
    }

    /** Who changes the keys on their way can sign tokens, so that they come by TLS or do not leave the machine. */
    private static void check(Values v, @Nullable String url, boolean hasAuthorities) {
        boolean secured = url != null && url.startsWith("https:");
        if (hasAuthorities && !secured) {
            v.error(v.atKey("caFile"), "caFile is only for a jwksUrl with https: remove it, or write https");
        }
        URI parsed = url == null ? null : URI.create(url);
        if (parsed == null || parsed.getHost() == null) {
            return; // it is not there, or reported
        }
        try {
            JwkSet.requireParser();
        } catch (IOException e) {
            v.error(v.at("jwksUrl"), "jwksUrl: " + e.getMessage());
        }
        if (!secured && !isLoopback(parsed.getHost())) {
            v.error(
                    v.at("jwksUrl"),
                    "jwksUrl: an attacker who changes the keys on their way can sign tokens, so http is only for"
                            + " loopback addresses: write https");
        }
    }

    private static boolean isLoopback(String host) {
        return host.equals("localhost") || host.equals("[::1]") || host.matches("127(\\.\\d{1,3}){3}");
    }

    /** A token that an issuer has made for another application would open this one. An empty list says that this is wanted. */
    private static void audiences(Values v, List<JwtConfig.Provider> providers, List<RequiredClaim> required) {
        if (required.stream()
                .anyMatch(claim -> OF_APPLICATIONS.contains(claim.name())
                        && !claim.values().isEmpty())) {
            return;
        }
        for (JwtConfig.Provider provider : providers) {
            if (!v.wrote(provider, "audiences")) {
                v.warning(
                        provider.position(),
                        "tokens for other applications of this issuer are accepted, too: write audiences, or"
                                + " audiences: [] if its tokens have no claim aud");
            }
        }
    }

    private static <T extends Record> void differ(Values v, List<T> elements, String key, Function<T, String> getter) {
        Map<String, T> first = new HashMap<>();
        for (T each : elements) {
            T other = first.putIfAbsent(getter.apply(each), each);
            if (other != null) {
                v.error(
                        v.at(each, key),
                        "duplicate " + key + ": first written in line "
                                + v.at(other, key).line());
            }
        }
    }

    /** No request can show two kinds of credentials in one place, and each key server is trusted for one reason. */
    static void check(JwtConfig filter, RuleSite site) {
        ShownCredentials shown = filter.credentials();
        for (FilterConfig other : site.rule().filters()) {
            ShownCredentials taken = other instanceof JwtConfig ? null : other.credentials();
            if (taken != null && taken.isAt(shown.place(), shown.name())) {
                site.error(
                        filter.position(),
                        other.type() + " expects other credentials in the same place, " + shown.name()
                                + ": write another header, queryParameter or cookie");
            }
        }
        filter.providers().forEach(provider -> sameServer(provider, site));
    }

    private static void sameServer(JwtConfig.Provider provider, RuleSite site) {
        if (!site.scope().wrote(provider, "jwksUrl")) {
            return;
        }
        JwtConfig.Provider first = site.everywhere(JwtConfig.class)
                .flatMap(each -> each.providers().stream())
                .filter(each -> site.scope().wrote(each, "jwksUrl") && Objects.equals(each.origin(), provider.origin()))
                .findFirst()
                .orElse(provider);
        if (!Objects.equals(provider.caFile(), first.caFile())) {
            site.error(
                    provider.position(),
                    "the provider in " + first.position().seenFrom(provider.position())
                            + " has another caFile for the same server: write the same one, or the same lack of it");
        }
    }
}
