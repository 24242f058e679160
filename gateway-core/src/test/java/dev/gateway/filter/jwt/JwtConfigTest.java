package dev.gateway.filter.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.ConfigPrinter;
import dev.gateway.filter.jwt.JwtConfig.ClaimHeader;
import dev.gateway.format.crypto.JwkSet;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the settings of a token filter are, written and not. */
class JwtConfigTest {
    private static final Path DIRECTORY = Path.of("src/test/resources/broken").toAbsolutePath();

    private static JwtConfig load(String jwt) {
        String yaml =
                """
                listeners: [{name: web, address: 127.0.0.1, port: 8080, protocol: HTTP}]
                routes:
                  - rules:
                      - backendRefs: [{name: app}]
                        filters: [{type: JWT, jwt: {%s}}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                """
                        .formatted(jwt);
        LoadResult result = ConfigLoader.parse("test.yaml", yaml.getBytes(StandardCharsets.UTF_8), DIRECTORY, Map.of());
        assertThat(result.problems())
                .allMatch(each -> each.message().startsWith("tokens for other applications of this issuer"));
        GatewayConfig config = ((LoadResult.Valid) result).config();
        assertThat(ConfigPrinter.yaml(config)).contains("type: JWT");
        return (JwtConfig) config.routes().get(0).rules().get(0).filters().get(0);
    }

    @Test
    void defaultsAreSafe() {
        JwtConfig jwt = load("providers: [{issuer: \"https://id.example\", jwksFile: jwks.json}]");
        assertThat(jwt.place()).isEqualTo(CredentialPlace.HEADER);
        assertThat(jwt.name()).isEqualTo("Authorization");
        assertThat(jwt.forwardToken()).isFalse();
        assertThat(jwt.requireExpiration()).isTrue();
        assertThat(jwt.leeway()).isEqualTo(Duration.ofMinutes(1));
        assertThat(jwt.maxTokenSize()).isEqualTo(8192);
        assertThat(jwt.identityClaim()).isEqualTo("sub");
        assertThat(jwt.guards()).isTrue();
        assertThat(jwt.identifies()).isTrue();
        assertThat(jwt.providers().get(0).algorithms())
                .isEqualTo(JwkSet.ALGORITHMS)
                .noneMatch(each -> each.startsWith("HS"))
                .doesNotContain("none");
        assertThat(jwt.summary()).isEqualTo("JWT: tokens of https://id.example");
    }

    @Test
    void theSummaryTellsWhoseTokensAreForWhom() {
        JwtConfig jwt = load("providers: [{issuer: a, audiences: [shop, web], jwksFile: jwks.json},"
                + " {issuer: b, jwksFile: jwks.json, algorithms: [EdDSA]}],"
                + " requiredClaims: [{name: scope, values: [read, write]}, {name: email}],"
                + " claimsToHeaders: [{claim: sub, header: X-User}], cookie: session");
        assertThat(jwt.summary())
                .isEqualTo("JWT: tokens of a for shop or web or b, with scope read or write, with email");
        assertThat(jwt.place()).isEqualTo(CredentialPlace.COOKIE);
        assertThat(jwt.name()).isEqualTo("session");
        assertThat(jwt.claimsToHeaders()).extracting(ClaimHeader::header).containsExactly("X-User");
    }

    @Test
    void keysMayComeFromAUrl() {
        JwtConfig jwt = load("providers: [{issuer: a, jwksUrl: \"https://id.example/keys?v=1\"},"
                + " {issuer: b, jwksUrl: \"http://localhost:8080/b\"}, {issuer: c, jwksUrl: \"http://127.1.2.3/c\"},"
                + " {issuer: d, jwksUrl: \"http://[::1]/d\"},"
                + " {issuer: e, jwksUrl: \"https://id.example:444\", caFile: ../tls/server.crt}]");
        assertThat(jwt.providers())
                .extracting(JwtConfig.Provider::jwksUrl)
                .containsExactly(
                        "https://id.example/keys?v=1",
                        "http://localhost:8080/b",
                        "http://127.1.2.3/c",
                        "http://[::1]/d",
                        "https://id.example:444");
        assertThat(jwt.providers())
                .allSatisfy(each -> assertThat(each.jwksFile()).isNull());
        assertThat(jwt.providers().get(4).caFile()).isEqualTo(DIRECTORY.resolveSibling("tls/server.crt"));
    }
}
