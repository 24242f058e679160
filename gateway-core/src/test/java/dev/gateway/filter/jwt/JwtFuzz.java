package dev.gateway.filter.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.filter.jwt.JwtResult.Valid;
import dev.gateway.format.crypto.JwkSet;
import dev.gateway.message.Ascii;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.testing.SigningKey;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Fuzz target: a signed token of strangers. None is accepted unless the JDK, too, finds that a key of its issuer has signed it.
 * The input has four lines: who signs, the header, the claims, and pairs of bytes that change the finished token; or one line
 * that is a token. A key signs by one algorithm, so what the header says may be wrong.
 */
final class JwtFuzz {
    private static final ObjectMapper JSON = new ObjectMapper().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);

    private static final SigningKey ED = SigningKey.of("EdDSA", "ed");
    private static final SigningKey EC = SigningKey.of("ES256", "");
    private static final SigningKey RSA = SigningKey.of("RS256", "rsa");
    private static final SigningKey OTHER_ED = SigningKey.of("EdDSA", "ed");
    private static final SigningKey OF_B = SigningKey.of("EdDSA", "ed");
    private static final List<SigningKey> SIGNERS =
            List.of(ED, EC, OF_B, OTHER_ED, RSA, RSA.as("PS256", "rsa"), RSA.as("RS512", "rsa"));

    private static final List<JwkSet> SETS = List.of(set(ED, EC, RSA), set(OF_B));
    private static final List<List<SigningKey>> KEYS = List.of(List.of(ED, EC, RSA), List.of(OF_B));

    private static final JwtRules RULES = new JwtRules(
            List.of(
                    new JwtRules.Provider("a", Set.of("shop"), Set.of("EdDSA", "ES256", "RS256", "PS256")),
                    new JwtRules.Provider("b", Set.of(), Set.of("EdDSA"))),
            List.of(new JwtRules.Required("scope", Set.of("read"))),
            List.of("sub", "groups"),
            List.of("sub"),
            "sub",
            true);

    private static final List<String> ALGORITHMS = List.of("EdDSA", "ES256", "RS256", "PS256");
    private static final long NOW = 1_800_000_000L;
    private static final FieldName HEADER = FieldName.of("X-Claim");
    private static final JwtVerifier VERIFIER = new JwtVerifier(RULES);

    private JwtFuzz() {}

    private static JwkSet set(SigningKey... keys) {
        try {
            return JwkSet.parse("keys", SigningKey.set(keys));
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) throws GeneralSecurityException {
        String[] lines = new String(input, StandardCharsets.ISO_8859_1).split("\n", 4);
        if (lines.length < 4) {
            check(lines[0]);
            return;
        }
        int signer = lines[0].isEmpty() ? 0 : lines[0].charAt(0);
        String token = signer == 'h'
                ? SigningKey.hmacToken(lines[1], lines[2], ED.publicKey().getEncoded())
                : SIGNERS.get(signer % SIGNERS.size()).token(utf8(lines[1]), utf8(lines[2]));
        boolean accepted = check(token);
        byte[] changed = token.getBytes(StandardCharsets.ISO_8859_1);
        byte[] edits = lines[3].getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i + 1 < edits.length; i += 2) {
            // Most are about the end, which is the signature.
            changed[Math.floorMod(-1 - (edits[i] & 0xff), changed.length)] ^= edits[i + 1];
        }
        String other = new String(changed, StandardCharsets.ISO_8859_1);
        if (!other.equals(token)) {
            assertThat(accepted && check(other))
                    .as("the same token in another form")
                    .isFalse();
        }
    }

    private static String utf8(String bytes) {
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /** Whether the filter lets a request with the token pass, which must have reasons. */
    private static boolean check(String token) throws GeneralSecurityException {
        boolean passes = passes(token);
        JwtResult result = VERIFIER.verify(token, SETS);
        boolean isValid = result instanceof Valid valid
                && valid.lacks().isEmpty()
                && valid.expires() > NOW
                && valid.notBefore() <= NOW;
        assertThat(passes).isEqualTo(isValid && isCanonical(token));
        if (result instanceof Valid valid) {
            checkReasons(valid, token.split("\\.", -1));
        }
        return passes;
    }

    private static boolean passes(String token) {
        if (!token.equals(token.strip())) {
            return false; // no field has such a value
        }
        FakeContext context = FakeContext.from("192.0.2.1");
        Queue<Runnable> verifying = new ArrayDeque<>();
        JwtTokens tokens = new JwtTokens(
                RULES,
                List.of(() -> SETS.get(0), () -> SETS.get(1)),
                new SignatureWork(verifying::add, SignatureWork.WAITING_PER_THREAD, () -> 0),
                CacheMemory.UNLIMITED,
                () -> 0);
        Jwt filter = new Jwt(
                new Jwt.Settings(KeyPlace.header("X-Token"), false, 8192, 0, List.of(HEADER, HEADER), "shop"),
                tokens,
                () -> NOW);
        Fields fields = new Fields();
        fields.add(FieldName.of("X-Token"), new AsciiString(token));
        fields.add(HEADER, "forged");
        RequestHead head =
                new RequestHead(Method.GET, Scheme.HTTP, new AsciiString("a.example"), new AsciiString("/"), fields, 0);
        Verdict verdict = filter.onRequest(head, context);
        if (verdict instanceof Verdict.Wait) {
            verifying.remove().run();
            context.runLoop();
            verdict = context.resumed.get(0);
        }
        assertThat(fields.toString()).doesNotContain("forged").doesNotContain("X-Token");
        assertThat(verdict == Verdict.PROCEED || fields.size() == 0).isTrue();
        return verdict == Verdict.PROCEED;
    }

    /** Whether its parts are in base64url, in the one form that has no bits too many. */
    private static boolean isCanonical(String token) {
        if (token.length() > 8192 || !token.matches("[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+")) {
            return false;
        }
        try {
            return Arrays.stream(token.split("\\.", -1)).allMatch(part -> Base64.getUrlEncoder()
                    .withoutPadding()
                    .encodeToString(Base64.getUrlDecoder().decode(part))
                    .equals(part));
        } catch (IllegalArgumentException e) {
            return false; // of no such length
        }
    }

    private static void checkReasons(Valid valid, String[] parts) throws GeneralSecurityException {
        assertThat(parts).hasSize(3);
        JsonNode header = json(parts[0]);
        JsonNode claims = json(parts[1]);
        boolean signed = false;
        for (String algorithm :
                header.isMissingNode() ? ALGORITHMS : List.of(header.path("alg").asText())) {
            for (SigningKey key : header.isMissingNode() || claims.isMissingNode() ? KEYS.get(0) : keys(claims)) {
                signed |= isSigned(key, algorithm, parts);
            }
        }
        if (!claims.isMissingNode() && !header.isMissingNode()) {
            assertThat(signed)
                    .as("signed by a key of its issuer, as the JDK has it")
                    .isTrue();
            assertThat(header.path("crit").isNull() || header.path("crit").isMissingNode())
                    .isTrue();
        } else if (!signed) {
            for (String algorithm : ALGORITHMS) {
                signed |= isSigned(OF_B, algorithm, parts);
            }
            assertThat(signed).isTrue();
        }
        if (!claims.isMissingNode()) {
            checkClaims(valid, claims);
        }
        if (valid.identity() != null) {
            assertThat(valid.identity().name()).isNotBlank().hasSizeLessThanOrEqualTo(256);
            assertThat(valid.identity().name().chars()).noneMatch(Character::isISOControl);
        }
        for (Optional<AsciiString> value : valid.headers()) {
            if (value.isPresent()) {
                for (byte b : value.get().toByteArray()) {
                    assertThat(Ascii.isFieldValue(b)).isTrue();
                }
                assertThat(Ascii.trim(value.get()).length())
                        .isEqualTo(value.get().length())
                        .isPositive();
            }
        }
    }

    private static List<SigningKey> keys(JsonNode claims) {
        int provider = List.of("a", "b").indexOf(claims.path("iss").asText());
        assertThat(provider).isNotNegative();
        return KEYS.get(provider);
    }

    private static void checkClaims(Valid valid, JsonNode claims) {
        assertThat(claims.path("iss").asText().equals("b") || isFor(claims.path("aud"), "shop"))
                .isTrue();
        assertThat(valid.expires()).isEqualTo(second(claims.path("exp")));
        if (claims.has("nbf")) {
            assertThat(valid.notBefore()).isEqualTo(second(claims.get("nbf")));
        }
        assertThat(valid.lacks().isEmpty()).isEqualTo(isAllowed(claims.path("scope")));
        if (valid.identity() != null && claims.path("sub").isTextual()) {
            assertThat(valid.identity().name()).isEqualTo(claims.get("sub").textValue());
        }
    }

    /** Returns the members of a part, none if they are not quite JSON: jose4j is more lenient. */
    private static JsonNode json(String part) {
        try {
            return JSON.readTree(Base64.getUrlDecoder().decode(part));
        } catch (JacksonException e) {
            assertThat(e.getMessage()).doesNotContain("Duplicate field");
            return JSON.missingNode();
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static boolean isFor(JsonNode audience, String wanted) {
        return audience.isTextual()
                ? audience.textValue().equals(wanted)
                : audience.isArray()
                        && StreamSupport.stream(audience.spliterator(), false)
                                .anyMatch(each -> wanted.equals(each.textValue()));
    }

    private static boolean isAllowed(JsonNode scope) {
        return scope.isTextual()
                ? Arrays.asList(scope.textValue().split(" ", -1)).contains("read")
                : isFor(scope, "read");
    }

    private static long second(JsonNode number) {
        assertThat(number.isNumber()).isTrue();
        long most = Long.MAX_VALUE / 4;
        long second = number.isLong() || number.isInt() ? number.longValue() : (long) Math.floor(number.doubleValue());
        return Math.max(-most, Math.min(most, second));
    }

    private static boolean isSigned(SigningKey key, String algorithm, String[] parts) throws GeneralSecurityException {
        String type = key.publicKey().getAlgorithm();
        if (!Stream.of("EdDSA EdDSA", "Ed25519 EdDSA", "EC ES256", "RSA RS256", "RSA PS256")
                .anyMatch((type + " " + algorithm)::equals)) {
            return false;
        }
        Signature signature = Signature.getInstance(
                switch (algorithm) {
                    case "ES256" -> "SHA256withECDSAinP1363Format";
                    case "RS256" -> "SHA256withRSA";
                    case "PS256" -> "RSASSA-PSS";
                    default -> "EdDSA";
                });
        if (algorithm.equals("PS256")) {
            signature.setParameter(new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1));
        }
        signature.initVerify(key.publicKey());
        signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
        try {
            return signature.verify(Base64.getUrlDecoder().decode(parts[2]));
        } catch (GeneralSecurityException e) {
            return false; // such as a signature of another length
        }
    }
}
