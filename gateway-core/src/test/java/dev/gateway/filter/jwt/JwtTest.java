package dev.gateway.filter.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.filter.auth.VerifiedCredentials;
import dev.gateway.filter.jwt.jwks.KeyLocation;
import dev.gateway.filter.jwt.jwks.PlayedServer;
import dev.gateway.filter.jwt.jwks.RemoteKeys;
import dev.gateway.format.crypto.JwkSet;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.Cause;
import dev.gateway.testing.SigningKey;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which tokens let a request pass, and what becomes of it. */
class JwtTest {
    private static final SigningKey RSA = SigningKey.of("RS256", "rsa");
    private static final SigningKey EC = SigningKey.of("ES256", "ec");
    private static final String ISSUER = "https://id.example";
    private static final long NOW = 1_800_000_000L;
    private static final long LEEWAY = 60;

    private final Queue<Runnable> verifying = new ArrayDeque<>();
    private final AtomicReference<JwkSet> keys = new AtomicReference<>(set(RSA, EC));
    private final FakeContext context = FakeContext.from("192.0.2.1");
    private long now = NOW;
    private JwtTokens tokens = tokens(rules(List.of(), List.of()));

    private static JwkSet set(SigningKey... signing) {
        return parse(SigningKey.set(signing));
    }

    private static JwkSet parse(String json) {
        try {
            return JwkSet.parse("keys", json);
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static JwtRules rules(List<JwtRules.Required> required, List<String> headerClaims) {
        return new JwtRules(List.of(provider(Set.of("shop", "admin"))), required, headerClaims, List.of(), "sub", true);
    }

    private static JwtRules.Provider provider(Set<String> audiences) {
        return new JwtRules.Provider(ISSUER, audiences, Set.copyOf(JwkSet.ALGORITHMS));
    }

    private JwtTokens tokens(JwtRules rules) {
        return tokens(rules, CacheMemory.UNLIMITED);
    }

    private JwtTokens tokens(JwtRules rules, CacheMemory memory) {
        return new JwtTokens(
                rules,
                List.of(keys::get),
                new SignatureWork(verifying::add, SignatureWork.WAITING_PER_THREAD, () -> 0),
                memory,
                () -> 0);
    }

    private Jwt filter(KeyPlace place, boolean forward, String... headers) {
        return new Jwt(
                new Jwt.Settings(
                        place,
                        forward,
                        8192,
                        LEEWAY,
                        List.of(headers).stream().map(FieldName::of).toList(),
                        "shop"),
                tokens,
                () -> now);
    }

    private Jwt filter() {
        return filter(KeyPlace.header("Authorization"), false);
    }

    private static RequestHead request(String... fields) {
        return Heads.request("GET", "shop.test", "/", fields);
    }

    /** Has the filter judge a request to the end. */
    private Verdict ask(Jwt filter, RequestHead head) {
        Verdict verdict = filter.onRequest(head, context);
        if (!(verdict instanceof Verdict.Wait)) {
            return verdict;
        }
        int before = context.resumed.size();
        for (Runnable task = verifying.poll(); task != null; task = verifying.poll()) {
            task.run();
        }
        context.runLoop();
        assertThat(context.resumed).hasSize(before + 1);
        return context.resumed.get(before);
    }

    private Verdict ask(String token) {
        return ask(filter(), request("Authorization: Bearer " + token));
    }

    private static String claims(String more) {
        return "{\"iss\":\"" + ISSUER + "\",\"sub\":\"ann\",\"aud\":\"shop\",\"exp\":" + (NOW + 300)
                + (more.isEmpty() ? "" : "," + more) + "}";
    }

    private static void assertRefused(Verdict verdict, String why) {
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
            assertThat(refuse.failure().cause()).isEqualTo(Cause.AUTHZ_DENIED);
            assertThat(refuse.failure().status()).isEqualTo(401);
            assertThat(refuse.failure().detail()).contains(why);
            assertThat(String.valueOf(refuse.fields().first(FieldName.WWW_AUTHENTICATE)))
                    .isEqualTo("Bearer realm=\"shop\", error=\"invalid_token\"");
        });
    }

    private String name() {
        return Objects.requireNonNull(context.identity()).name();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed448"
            })
    void aTokenOfAnyAlgorithmNamesItsHolderAndEndsHere(String algorithm) {
        SigningKey key = algorithm.matches("[RP]S.*") ? RSA.as(algorithm, "k") : SigningKey.of(algorithm, "k");
        keys.set(set(key));
        RequestHead head = request("Authorization: Bearer " + key.token(claims("")), "Accept: */*");
        assertThat(ask(filter(), head)).isEqualTo(Verdict.PROCEED);
        assertThat(name()).isEqualTo("ann");
        assertThat(head.fields().size()).isEqualTo(1);

        String token = key.token(claims(""));
        String forged = token.substring(0, token.lastIndexOf('.'))
                + key.token(claims("\"x\":1")).replaceFirst(".*\\.", ".");
        assertRefused(ask(forged), "signature is wrong");
    }

    @Test
    void aTokenIsVerifiedOnceWhateverFilterItIsShownTo() {
        String token = EC.token(claims(""));
        assertThat(filter().onRequest(request("Authorization: bearer " + token), context))
                .isInstanceOf(Verdict.Wait.class);
        assertThat(verifying).hasSize(1);
        verifying.remove().run();
        context.runLoop();
        assertThat(context.resumed).containsExactly(Verdict.PROCEED);

        Jwt ofTheNextGeneration = filter(KeyPlace.cookie("t"), true);
        assertThat(ofTheNextGeneration.onRequest(request("Cookie: t=" + token), context))
                .isEqualTo(Verdict.PROCEED);
        String wrong = SigningKey.of("ES256", "ec").token(claims(""));
        assertRefused(ask(wrong), "signature is wrong");
        assertRefused(filter().onRequest(request("Authorization: Bearer " + wrong), context), "signature is wrong");
        assertThat(verifying).isEmpty();
    }

    @Test
    void tokensAreFoundInHeadersCookiesAndTheQuery() {
        String token = EC.token(claims(""));
        RequestHead cookies = request("Cookie: a=b; t=" + token);
        assertThat(ask(filter(KeyPlace.cookie("t"), false), cookies)).isEqualTo(Verdict.PROCEED);
        assertThat(String.valueOf(cookies.fields().first(FieldName.COOKIE))).isEqualTo("a=b");
        RequestHead query = Heads.request("GET", "shop.test", "/a?x=y&t=" + token);
        assertThat(ask(filter(KeyPlace.queryParameter("t"), false), query)).isEqualTo(Verdict.PROCEED);
        assertThat(query.path().toString()).isEqualTo("/a?x=y");
        KeyPlace header = KeyPlace.header("X-Assertion");
        assertThat(ask(filter(header, false), request("X-Assertion: " + token))).isEqualTo(Verdict.PROCEED);
        assertThat(ask(filter(header, false), request("X-Assertion: Bearer " + token)))
                .isEqualTo(Verdict.PROCEED);
        RequestHead forwarded = request("Authorization: Bearer " + token);
        assertThat(ask(filter(KeyPlace.header("authorization"), true), forwarded))
                .isEqualTo(Verdict.PROCEED);
        assertThat(forwarded.fields().size()).isEqualTo(1);
    }

    @Test
    void whoShowsNoTokenOrSeveralIsAskedForOne() {
        String token = EC.token(claims(""));
        for (RequestHead head : List.of(
                request(),
                request("Authorization: Bearer"),
                request("Authorization: Basic YTpi"),
                request("Authorization: " + token),
                request("Authorization: Bearer " + token, "Authorization: Bearer " + token),
                request("Proxy-Authorization: Bearer " + token))) {
            assertThat(ask(filter(), head)).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
                assertThat(refuse.failure().status()).isEqualTo(401);
                assertThat(String.valueOf(refuse.fields().first(FieldName.WWW_AUTHENTICATE)))
                        .isEqualTo("Bearer realm=\"shop\"");
            });
        }
        assertThat(ask(filter(KeyPlace.cookie("t"), false), request("Cookie: t=" + token + "; t=" + token)))
                .isInstanceOf(Verdict.Refuse.class);
        assertThat(verifying).isEmpty();
        assertThat(context.identity()).isNull();
    }

    /** A token of many forms would be remembered, and counted, many times. */
    @Test
    void aTokenHasOneForm() {
        String token = EC.token(claims(""));
        String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        int last = letters.indexOf(token.charAt(token.length() - 1));
        assertThat(last % 16).isZero(); // a signature of 64 bytes leaves four bits
        for (int bits = 1; bits < 16; bits++) {
            String other = token.substring(0, token.length() - 1) + letters.charAt(last + bits);
            assertRefused(filter().onRequest(request("Authorization: Bearer " + other), context), "malformed");
        }
        assertThat(verifying).isEmpty();
        assertThat(ask(filter(), request("Authorization: Bearer " + token))).isEqualTo(Verdict.PROCEED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "a.b", "..", "a..c", "a.b.", ".b.c", "a.b.c.d", "a.b.c.d.e", "a.b!.c", "a.b.c=", "a.b.c d"})
    void whatIsNoSignedTokenIsRefusedAtOnce(String token) {
        assertRefused(filter().onRequest(request("Authorization: Bearer " + token), context), "malformed");
    }

    @Test
    void aTokenThatIsTooLargeIsRefusedAtOnce() {
        String token = EC.token(claims("\"x\":\"" + "a".repeat(6000) + "\""));
        assertThat(token.length()).isGreaterThan(8192);
        assertRefused(filter().onRequest(request("Authorization: Bearer " + token), context), "more than 8192 bytes");
        assertThat(ask(EC.token(claims("\"x\":\"" + "a".repeat(5500) + "\"")))).isEqualTo(Verdict.PROCEED);
    }

    /** The public key is public: as the secret of HMAC it proves nothing. */
    @Test
    void aPublicKeyIsNoSecret() {
        byte[] der = RSA.publicKey().getEncoded();
        String pem = "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END PUBLIC KEY-----\n";
        for (byte[] secret :
                List.of(der, pem.getBytes(StandardCharsets.UTF_8), RSA.jwk().getBytes(StandardCharsets.UTF_8))) {
            assertRefused(
                    ask(SigningKey.hmacToken("{\"alg\":\"HS256\",\"kid\":\"rsa\"}", claims(""), secret)),
                    "algorithm that is not accepted");
            assertRefused(
                    ask(SigningKey.hmacToken("{\"alg\":\"RS256\",\"kid\":\"rsa\"}", claims(""), secret)),
                    "signature is wrong");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"none\"",
                "\"None\"",
                "\"NONE\"",
                "\"\"",
                "null",
                "1",
                "[\"RS256\"]",
                "\"HS256\"",
                "\"rs256\"",
                "\"ES256K\""
            })
    void noOtherAlgorithmIsAccepted(String algorithm) {
        String header = "{\"alg\":" + algorithm + ",\"kid\":\"rsa\"}";
        assertRefused(ask(RSA.token(header, claims(""))), "algorithm that is not accepted");
        assertRefused(ask(SigningKey.base64(header) + "." + SigningKey.base64(claims("")) + "."), "malformed");
    }

    @Test
    void anAlgorithmFitsItsKeyAndTheRules() {
        assertRefused(ask(RSA.token("{\"alg\":\"RS256\",\"kid\":\"ec\"}", claims(""))), "no such key");
        assertRefused(ask(EC.token("{\"alg\":\"ES256\",\"kid\":\"rsa\"}", claims(""))), "no such key");
        assertRefused(ask(EC.token("{\"alg\":\"ES384\",\"kid\":\"ec\"}", claims(""))), "no such key");
        assertRefused(ask(RSA.token("{\"alg\":\"PS256\",\"kid\":\"rsa\"}", claims(""))), "signature is wrong");
        keys.set(parse("{\"keys\":[{\"kid\":\"rsa\",\"alg\":\"PS256\"," + RSA.members() + "}]}"));
        assertRefused(ask(RSA.token(claims(""))), "no such key");
        assertThat(ask(RSA.as("PS256", "rsa").token(claims("")))).isEqualTo(Verdict.PROCEED);

        keys.set(set(RSA, EC));
        JwtRules.Provider one = new JwtRules.Provider(ISSUER, Set.of(), Set.of("ES256"));
        tokens = tokens(new JwtRules(List.of(one), List.of(), List.of(), List.of(), "sub", true));
        assertRefused(ask(RSA.token(claims(""))), "algorithm that is not accepted");
        assertThat(ask(EC.token(claims("")))).isEqualTo(Verdict.PROCEED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"../../../../dev/null\"",
                "\"x' UNION SELECT 'key\"",
                "\"\"",
                "\"rsa\\u0000\"",
                "\"RSA\"",
                "\"http://192.0.2.7/key\""
            })
    void aKeyIdIsANameAndNothingElse(String id) {
        assertRefused(ask(RSA.token("{\"alg\":\"RS256\",\"kid\":" + id + "}", claims(""))), "no such key");
    }

    @Test
    void aKeyIdOfAnotherKindOrSizeIsNoKey() {
        for (String id : List.of("1", "[\"rsa\"]", "{\"rsa\":1}", "true")) {
            assertRefused(ask(RSA.token("{\"alg\":\"RS256\",\"kid\":" + id + "}", claims(""))), "malformed");
        }
        String large = "{\"alg\":\"RS256\",\"kid\":\"" + "k".repeat(4000) + "\"}";
        assertRefused(ask(RSA.token(large, claims(""))), "no such key");
    }

    @Test
    void keysThatATokenBringsAreIgnored() {
        SigningKey own = SigningKey.of("ES256", "ec");
        for (String more : List.of(
                "\"jwk\":" + own.jwk(),
                "\"jku\":\"https://192.0.2.7/jwks\"",
                "\"x5u\":\"https://192.0.2.7/chain\"",
                "\"x5c\":[\"AAAA\"]")) {
            assertRefused(
                    ask(own.token("{\"alg\":\"ES256\",\"kid\":\"ec\"," + more + "}", claims(""))),
                    "signature is wrong");
        }
    }

    @Test
    void whatWouldHaveToBeUnderstoodIsRefused() {
        for (String more : List.of("\"crit\":[\"b64\"],\"b64\":true", "\"crit\":[\"exp\"]", "\"crit\":[]")) {
            assertRefused(ask(EC.token("{\"alg\":\"ES256\",\"kid\":\"ec\"," + more + "}", claims(""))), "(crit)");
        }
        String plain = "{\"alg\":\"ES256\",\"kid\":\"ec\",\"crit\":[\"b64\"],\"b64\":false}";
        assertRefused(ask(EC.token(plain, claims(""))), "malformed"); // claims are not to be in base64url then
    }

    @Test
    void nothingIsSaidTwice() {
        assertRefused(ask(EC.token("{\"alg\":\"ES256\",\"kid\":\"ec\",\"kid\":\"ec\"}", claims(""))), "malformed");
        assertRefused(ask(EC.token(claims("\"sub\":\"root\""))), "malformed");
        assertRefused(ask(EC.token(claims("\"x\":{\"a\":1,\"a\":2}"))), "malformed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "1",
                "null",
                "\"x\"",
                "{",
                "{}x",
                "{\"iss\":}",
                "\u00e9",
                "{\"exp\":99999999999999999999999}"
            })
    void whatIsNoObjectIsMalformed(String payload) {
        Verdict verdict = ask(EC.token(payload));
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> assertThat(
                        refuse.failure().status())
                .isEqualTo(401));
    }

    @Test
    void deepNestingDoesNoHarm() {
        String deep = "[".repeat(2500) + "]".repeat(2500);
        Verdict verdict = ask(EC.token(claims("\"x\":" + deep)));
        assertThat(verdict).isNotNull(); // whatever it is
        assertRefused(ask(EC.token("[".repeat(5000))), "malformed");
    }

    @ParameterizedTest
    @CsvSource({
        "0, false",
        "-59, true",
        "-60, false",
        "-61, false",
        "1, true",
        "300, true",
    })
    void aTokenEndsAtItsTimeAndTheLeeway(long secondsLeft, boolean passes) {
        // The first row is written for a gateway without leeway.
        long leeway = secondsLeft == 0 ? 0 : LEEWAY;
        Jwt filter = new Jwt(
                new Jwt.Settings(KeyPlace.header("Authorization"), false, 8192, leeway, List.of(), "shop"),
                tokens,
                () -> now);
        String token = EC.token(claims("").replace("" + (NOW + 300), "" + (NOW + secondsLeft)));
        Verdict verdict = ask(filter, request("Authorization: Bearer " + token));
        if (passes) {
            assertThat(verdict).isEqualTo(Verdict.PROCEED);
        } else {
            assertRefused(verdict, "has expired");
        }
    }

    @Test
    void whatIsRememberedEndsToo() {
        String token = EC.token(claims("\"nbf\":" + (NOW + 100)));
        assertRefused(ask(token), "not valid yet");
        now = NOW + 39;
        assertRefused(ask(token), "not valid yet");
        now = NOW + 40;
        assertThat(ask(token)).isEqualTo(Verdict.PROCEED);
        now = NOW + 359;
        assertThat(ask(token)).isEqualTo(Verdict.PROCEED);
        now = NOW + 360;
        assertRefused(filter().onRequest(request("Authorization: Bearer " + token), context), "has expired");
    }

    @Test
    void timesAreNumbersAndTheEndIsSaid() {
        String without = claims("").replaceFirst(",\"exp\":\\d+", "");
        assertRefused(ask(EC.token(without)), "does not say when it ends");
        for (String wrong : List.of("\"" + (NOW + 300) + "\"", "null", "true", "[]", "{}")) {
            assertRefused(ask(EC.token(without.replace("}", ",\"exp\":" + wrong + "}"))), "is no number");
        }
        assertRefused(ask(EC.token(claims("\"nbf\":\"0\""))), "is no number");
        for (String large : List.of("9223372036854775807", "1e300", NOW + ".5")) {
            assertThat(ask(EC.token(without.replace("}", ",\"exp\":" + large + "}"))))
                    .as(large)
                    .isEqualTo(Verdict.PROCEED);
        }
        assertRefused(ask(EC.token(without.replace("}", ",\"exp\":-9223372036854775808}"))), "has expired");
        assertRefused(ask(EC.token(claims("\"nbf\":1e300"))), "not valid yet");

        tokens = tokens(new JwtRules(List.of(provider(Set.of())), List.of(), List.of(), List.of(), "sub", false));
        assertThat(ask(EC.token(without))).isEqualTo(Verdict.PROCEED);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"shop\"|true",
                "[\"shop\"]|true",
                "[\"other\",\"admin\"]|true",
                "\"other\"|false",
                "[\"other\"]|false",
                "[]|false",
                "\"Shop\"|false",
                "\"shop admin\"|false",
                "{\"shop\":1}|false",
                "[[\"shop\"]]|false",
                "null|false"
            })
    void aTokenIsForOneOfTheAudiences(String audience, boolean passes) {
        Verdict verdict = ask(EC.token(claims("").replace("\"aud\":\"shop\"", "\"aud\":" + audience)));
        if (passes) {
            assertThat(verdict).isEqualTo(Verdict.PROCEED);
        } else {
            assertRefused(verdict, "another audience");
        }
    }

    @Test
    void aTokenWithoutAudienceIsForNobodyUnlessItDoesNotMatter() {
        String token = EC.token(claims("").replace(",\"aud\":\"shop\"", ""));
        assertRefused(ask(token), "another audience");
        tokens = tokens(new JwtRules(List.of(provider(Set.of())), List.of(), List.of(), List.of(), "sub", true));
        assertThat(ask(token)).isEqualTo(Verdict.PROCEED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"iss\":\"https://id.example/\"",
                "\"iss\":\"HTTPS://ID.EXAMPLE\"",
                "\"iss\":[\"https://id.example\"]",
                "\"iss\":null",
                "\"x\":1"
            })
    void aTokenOfAnotherIssuerIsRefused(String issuer) {
        assertRefused(ask(EC.token(claims("").replace("\"iss\":\"" + ISSUER + "\"", issuer))), "another issuer");
    }

    /** The keys of one issuer do not sign for another. */
    @Test
    void eachIssuerHasItsOwnKeys() {
        JwkSet others = set(RSA);
        JwtRules.Provider other = new JwtRules.Provider("other", Set.of(), Set.copyOf(JwkSet.ALGORITHMS));
        tokens = new JwtTokens(
                new JwtRules(List.of(provider(Set.of()), other), List.of(), List.of(), List.of(), "sub", true),
                List.of(keys::get, () -> others),
                new SignatureWork(verifying::add, SignatureWork.WAITING_PER_THREAD, () -> 0),
                CacheMemory.UNLIMITED,
                () -> 0);
        keys.set(set(EC));
        String ofOther = claims("").replace(ISSUER, "other");
        assertThat(ask(EC.token(claims("")))).isEqualTo(Verdict.PROCEED);
        assertThat(ask(RSA.token(ofOther))).isEqualTo(Verdict.PROCEED);
        assertRefused(ask(RSA.token(claims(""))), "no such key");
        assertRefused(ask(EC.token(ofOther)), "no such key");
    }

    @Test
    void otherKeysEndWhatIsRemembered() {
        String token = EC.token(claims(""));
        assertThat(ask(token)).isEqualTo(Verdict.PROCEED);
        SigningKey next = SigningKey.of("ES256", "next");
        keys.set(set(EC, next));
        FakeContext another = FakeContext.from("192.0.2.2");
        assertThat(filter().onRequest(request("Authorization: Bearer " + token), another))
                .isInstanceOf(Verdict.Wait.class);
        assertThat(ask(token)).isEqualTo(Verdict.PROCEED);
        assertThat(ask(next.token(claims("")))).isEqualTo(Verdict.PROCEED);
        keys.set(set(next));
        assertRefused(ask(token), "no such key");
        assertThat(ask(next.token(claims("")))).isEqualTo(Verdict.PROCEED);
    }

    @Test
    void theSameKeysKeepWhatIsRemembered() {
        String token = EC.token(claims(""));
        assertThat(ask(token)).isEqualTo(Verdict.PROCEED);
        keys.set(set(RSA, EC)); // read again
        assertThat(filter().onRequest(request("Authorization: Bearer " + token), context))
                .isEqualTo(Verdict.PROCEED);
    }

    @Test
    void aTokenOrAKeyMayHaveNoId() {
        String without = EC.as("ES256", "").token(claims(""));
        keys.set(set(SigningKey.of("ES256", "other"), RSA, EC));
        assertThat(ask(without)).isEqualTo(Verdict.PROCEED);
        keys.set(set(EC.as("ES256", "")));
        assertThat(ask(without)).isEqualTo(Verdict.PROCEED);
        assertThat(ask(EC.token(claims("")))).isEqualTo(Verdict.PROCEED);
        SigningKey[] many = new SigningKey[11];
        for (int i = 0; i < 10; i++) {
            many[i] = SigningKey.of("ES256", "k" + i);
        }
        many[10] = EC;
        keys.set(set(many));
        assertRefused(ask(without), "signature is wrong"); // not every key is tried
        assertThat(ask(EC.token(claims("")))).isEqualTo(Verdict.PROCEED);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "scope|read|\"scope\":\"write read\"|true",
                "scope|read|\"scope\":[\"read\"]|true",
                "scp|read|\"scp\":\"read\"|true",
                "scope|read|\"scope\":\"reader\"|false",
                "role|read|\"role\":\"write read\"|false",
                "role|read|\"role\":[\"write\",\"read\"]|true",
                "role|1|\"role\":1|true",
                "role|true|\"role\":[true]|true",
                "role|read|\"role\":{\"read\":1}|false",
                "role|read|\"x\":1|false",
                "role||\"role\":{}|true",
                "role||\"role\":null|false",
                "realm_access.roles|read|\"realm_access\":{\"roles\":[\"read\"]}|true",
                "realm_access.roles|read|\"realm_access.roles\":\"read\"|true",
                "realm_access.roles|read|\"realm_access\":\"read\"|false",
                "https://x.example/roles|read|\"https://x.example/roles\":[\"read\"]|true"
            })
    void aTokenHasTheRequiredClaims(String claim, @Nullable String value, String more, boolean passes) {
        Set<String> values = value == null ? Set.of() : Set.of(value, "another");
        tokens = tokens(rules(
                List.of(new JwtRules.Required("sub", Set.of()), new JwtRules.Required(claim, values)), List.of()));
        Verdict verdict = ask(EC.token(claims(more)));
        if (passes) {
            assertThat(verdict).isEqualTo(Verdict.PROCEED);
            return;
        }
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
            assertThat(refuse.failure().cause()).isEqualTo(Cause.AUTHZ_DENIED);
            assertThat(refuse.failure().status()).isEqualTo(403);
            assertThat(refuse.failure().detail()).startsWith("the token lacks the claim " + claim);
            assertThat(String.valueOf(refuse.fields().first(FieldName.WWW_AUTHENTICATE)))
                    .isEqualTo("Bearer realm=\"shop\", error=\"insufficient_scope\"");
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "\"x\":\"a b\"|a b",
                "\"x\":17|17",
                "\"x\":true|true",
                "\"x\":[\"a\",\"b\",1]|a,b,1",
                "\"x\":\"a,b\"|a,b",
                "\"x\":[\"a,b\"]|-",
                "\"x\":[\"a\",{}]|-",
                "\"x\":[]|-",
                "\"x\":\"\"|-",
                "\"x\":\" a\"|-",
                "\"x\":\"a\\r\\nX-Admin: 1\"|-",
                "\"x\":\"a\\u0000\"|-",
                "\"x\":\"a\\u007f\"|-",
                "\"x\":\"a\\ud800\"|-",
                "\"x\":{}|-",
                "\"x\":null|-",
                "\"y\":1|-"
            })
    void claimsBecomeFieldsThatNobodyElseWrites(String more, @Nullable String field) {
        tokens = tokens(rules(List.of(), List.of("x")));
        Jwt filter = filter(KeyPlace.header("Authorization"), false, "X-Claim");
        RequestHead head = request(
                "X-Claim: forged",
                "Authorization: Bearer " + EC.token(claims(more)),
                "x-claim: forged",
                "X_Claim: forged", // some servers take it for the other
                "X-Other: 1");
        assertThat(ask(filter, head)).isEqualTo(Verdict.PROCEED);
        assertThat(String.valueOf(head.fields().first(FieldName.of("X-Claim")))).isEqualTo(String.valueOf(field));
        assertThat(head.fields().size()).isEqualTo(field == null ? 1 : 2);
        Fields trailers = Heads.fields("x-claim: forged", "x.claim: forged", "x-sum: 1");
        filter.onRequestTrailers(trailers, context);
        assertThat(trailers.size()).isEqualTo(1);
    }

    @Test
    void fieldsAreUtf8() {
        tokens = tokens(rules(List.of(), List.of("x")));
        RequestHead head = request("Authorization: Bearer " + EC.token(claims("\"x\":\"J\u00f6rg\"")));
        assertThat(ask(filter(KeyPlace.header("Authorization"), false, "X-Claim"), head))
                .isEqualTo(Verdict.PROCEED);
        assertThat(Objects.requireNonNull(head.fields().first(FieldName.of("X-Claim")))
                        .toByteArray())
                .isEqualTo("J\u00f6rg".getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"a\\nb\"",
                "\"\"",
                "\" \"",
                "\" ann\"",
                "\"ann \"",
                "\"\\u00a0ann\"",
                "\"ann\\u3000\"",
                "\"a\\ud800\"",
                "[\"ann\"]",
                "null"
            })
    void aNameThatALogOrAFieldWouldShowAsAnotherOneIsNone(String name) {
        assertThat(ask(EC.token(claims("").replace("\"ann\"", name)))).isEqualTo(Verdict.PROCEED);
        assertThat(context.identity()).isNull();
    }

    @Test
    void aNameMayBeAnyClaim() {
        tokens = tokens(new JwtRules(List.of(provider(Set.of())), List.of(), List.of(), List.of(), "realm.mail", true));
        assertThat(ask(EC.token(claims("\"realm\":{\"mail\":\"a@b.example\"}"))))
                .isEqualTo(Verdict.PROCEED);
        assertThat(name()).isEqualTo("a@b.example");
    }

    /** What takes much room is verified each time. */
    @Test
    void largeFieldsAreNotRemembered() {
        tokens = tokens(rules(List.of(), List.of("x")));
        Jwt filter = filter(KeyPlace.header("Authorization"), false, "X-Claim");
        String large = "Authorization: Bearer " + EC.token(claims("\"x\":\"" + "a".repeat(2000) + "\""));
        assertThat(ask(filter, request(large))).isEqualTo(Verdict.PROCEED);
        assertThat(filter.onRequest(request(large), context)).isInstanceOf(Verdict.Wait.class);
    }

    @Test
    void whatIsRememberedIsChargedUntilNoFilterHasTheRules() throws Exception {
        CacheMemory memory = new CacheMemory(new MemoryBudget(1 << 20, 1));
        FilterStates states = new FilterStates();
        FilterStates.Prepared first = states.prepare();
        tokens = first.get("rules", JwtTokens.class, () -> tokens(rules(List.of(), List.of()), memory));
        states.use(first);
        assertThat(ask(EC.token(claims("")))).isEqualTo(Verdict.PROCEED);
        assertThat(memory.held()).isEqualTo(VerifiedCredentials.BYTES + 2 * "ann".length());
        assertRefused(ask(SigningKey.of("ES256", "ec").token(claims(""))), "signature is wrong");
        assertThat(memory.held()).isEqualTo(2 * VerifiedCredentials.BYTES + 2 * "ann".length());
        states.use(states.prepare());
        assertThat(memory.held()).isZero();
        assertThat(ask(EC.token(claims("")))).as("of an earlier exchange").isEqualTo(Verdict.PROCEED);
        assertThat(memory.held()).isZero();
    }

    // ---- keys that are fetched

    /** Where keys are fetched: a server that the test plays, on an event loop that it moves. */
    private final class Issuer {
        private final EmbeddedChannel loop = new EmbeddedChannel();
        private final PlayedServer server = new PlayedServer();
        private final RemoteKeys remote = new RemoteKeys(
                new KeyLocation(
                        "https://id.example/keys",
                        new Upstream(
                                "jwks:https://id.example",
                                List.of(new Endpoint(0, "id.example", 80, 1)),
                                RoundRobin::new,
                                UpstreamValues.builder().build()),
                        new AsciiString("/keys")),
                server,
                new TimerWheel(loop.eventLoop(), () -> 0),
                Runnable::run,
                () -> 0);

        Issuer() {
            tokens = new JwtTokens(
                    rules(List.of(), List.of()),
                    List.of(remote),
                    new SignatureWork(verifying::add, SignatureWork.WAITING_PER_THREAD, () -> 0),
                    CacheMemory.UNLIMITED,
                    () -> 0);
            remote.start();
            loop.runPendingTasks();
        }

        void answer(SigningKey... keys) {
            server.last().answer(SigningKey.set(keys));
            loop.runPendingTasks();
        }

        /** Begins to ask, and lets all happen that happens before an answer of the issuer. */
        void begin(String token) {
            assertThat(filter().onRequest(request("Authorization: Bearer " + token), context))
                    .isInstanceOf(Verdict.Wait.class);
            run();
        }

        void run() {
            for (Runnable task = verifying.poll(); task != null; task = verifying.poll()) {
                task.run();
                loop.runPendingTasks();
            }
            context.runLoop();
        }

        Verdict verdict() {
            run();
            return context.resumed.get(context.resumed.size() - 1);
        }
    }

    @Test
    void aTokenWaitsForTheFirstKeysOfItsIssuer() {
        Issuer issuer = new Issuer();
        issuer.begin(EC.token(claims("")));
        assertThat(context.resumed).isEmpty();
        issuer.answer(EC);
        assertThat(issuer.verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(name()).isEqualTo("ann");
    }

    @Test
    void withoutKeysNobodyCanSayWhetherATokenIsRight() {
        Issuer issuer = new Issuer();
        issuer.server.last().answer("none");
        issuer.loop.runPendingTasks();
        issuer.begin(EC.token(claims("")));
        assertThat(issuer.verdict()).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
            assertThat(refuse.failure().cause()).isEqualTo(Cause.AUTHZ_ERROR);
            assertThat(refuse.failure().status()).isEqualTo(503);
            assertThat(refuse.failure().detail()).contains("https://id.example/keys", "not a JSON Web Key Set");
        });
        issuer.begin(EC.token("{\"alg\":\"none\",\"kid\":\"ec\"}", claims("")));
        assertRefused(issuer.verdict(), "algorithm that is not accepted");
    }

    @Test
    void anUnknownKeyIsAskedForOnceAndNotForgottenWhenItIsThere() {
        Issuer issuer = new Issuer();
        issuer.answer(EC);
        SigningKey next = SigningKey.of("ES256", "next");
        issuer.begin(next.token(claims("")));
        assertThat(issuer.server.asked).hasSize(2);
        assertThat(context.resumed).isEmpty();
        issuer.answer(EC);
        assertRefused(issuer.verdict(), "no such key");
        issuer.begin(next.token(claims("")));
        assertThat(issuer.server.asked).as("too early").hasSize(2);
        assertRefused(issuer.verdict(), "no such key");
    }

    @Test
    void aNewKeyVerifiesTheTokenThatHadItFetched() {
        Issuer issuer = new Issuer();
        issuer.answer(EC);
        SigningKey next = SigningKey.of("ES256", "next");
        issuer.begin(next.token(claims("")));
        issuer.answer(EC, next);
        assertThat(issuer.verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(filter().onRequest(request("Authorization: Bearer " + next.token(claims("\"x\":1"))), context))
                .isInstanceOf(Verdict.Wait.class);
        assertThat(issuer.verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(issuer.server.asked).hasSize(2);
    }

    /** The same code judges tokens whose keys come from a file. */
    @Test
    void aPublicKeyIsNoSecretWhereverItComesFrom() {
        Issuer issuer = new Issuer();
        issuer.answer(RSA);
        byte[] secret = RSA.publicKey().getEncoded();
        issuer.begin(SigningKey.hmacToken("{\"alg\":\"HS256\",\"kid\":\"rsa\"}", claims(""), secret));
        assertRefused(issuer.verdict(), "algorithm that is not accepted");
        issuer.begin(RSA.as("PS256", "rsa").token("{\"alg\":\"ES256\",\"kid\":\"rsa\"}", claims("")));
        issuer.answer(RSA);
        assertRefused(issuer.verdict(), "no such key");
        issuer.begin(SigningKey.of("RS256", "rsa").token(claims("")));
        assertRefused(issuer.verdict(), "signature is wrong");
        assertThat(issuer.server.asked).hasSize(2);
    }

    @Test
    void aTokenThatWaitsIsChargedToItsClientUntilTheVerdict() {
        Issuer issuer = new Issuer();
        String token = EC.token(claims(""));
        issuer.begin(token);
        assertThat(context.held).isEqualTo(JwtCheck.BYTES + token.length());
        issuer.answer(EC);
        assertThat(issuer.verdict()).isEqualTo(Verdict.PROCEED);
        assertThat(context.held).isZero();
    }

    @Test
    void aTokenForWhichNoMemoryIsLeftIsNotVerified() {
        String token = EC.token(claims(""));
        context.room = token.length();
        assertThat(ask(token)).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> assertThat(
                        refuse.failure().cause())
                .isEqualTo(Cause.OVERLOAD));
        assertThat(verifying).isEmpty();
        assertThat(context.held).isZero();
    }

    @Test
    void nobodyAnswersARequestThatHasEndedBeforeTheKeysAreThere() {
        Issuer issuer = new Issuer();
        Verdict verdict = filter().onRequest(request("Authorization: Bearer " + EC.token(claims(""))), context);
        issuer.run();
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Wait.class, wait -> wait.cancel()
                .run());
        issuer.answer(EC);
        issuer.run();
        assertThat(context.resumed).isEmpty();
    }

    // ---- claims of limits

    @Test
    void limitsSeeTheClaimsThatTheyCountBy() {
        tokens = tokens(new JwtRules(
                List.of(provider(Set.of())),
                List.of(),
                List.of(),
                List.of("tenant", "realm.roles", "level", "none", "realm"),
                "sub",
                true));
        String token = EC.token(claims("\"tenant\":\"a\",\"level\":3,\"realm\":{\"roles\":[\"x\",\"y\"]},\"other\":1"));
        assertThat(ask(token)).isEqualTo(Verdict.PROCEED);
        Map<String, String> expected = Map.of("tenant", "a", "level", "3", "realm.roles", "x\ny");
        assertThat(context.claims()).isEqualTo(expected);
        context.setClaims(Map.of());
        assertThat(filter().onRequest(request("Authorization: Bearer " + token), context))
                .as("remembered")
                .isEqualTo(Verdict.PROCEED);
        assertThat(context.claims()).isEqualTo(expected);
    }

    /** A text must not look like a list. */
    @Test
    void aClaimWithLineBreaksIsNone() {
        List<String> names = List.of("text", "list", "empty", "tenant");
        tokens = tokens(new JwtRules(List.of(provider(Set.of())), List.of(), List.of(), names, "sub", true));
        String claims = "\"text\":\"x\\ny\",\"list\":[\"x\",\"y\\nz\"],\"empty\":[],\"tenant\":\"a\"";
        assertThat(ask(EC.token(claims(claims)))).isEqualTo(Verdict.PROCEED);
        assertThat(context.claims()).isEqualTo(Map.of("empty", "", "tenant", "a"));
    }

    @Test
    void aTokenThatIsRefusedHasNoClaims() {
        tokens =
                tokens(new JwtRules(List.of(provider(Set.of())), List.of(), List.of(), List.of("tenant"), "sub", true));
        assertRefused(ask(EC.token(claims("\"tenant\":\"a\"").replace(String.valueOf(NOW + 300), "1"))), "expired");
        assertThat(context.claims()).isEmpty();
    }

    @Test
    void aRequestThatHasEndedIsNotAnswered() {
        Verdict verdict = filter().onRequest(request("Authorization: Bearer " + EC.token(claims(""))), context);
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Wait.class, wait -> wait.cancel()
                .run());
        verifying.remove().run();
        context.runLoop();
        assertThat(context.resumed).isEmpty();
    }

    @Test
    void moreTokensThanMayWaitAreRefused() {
        List<FakeContext> clients = new ArrayList<>();
        for (int i = 0; i < SignatureWork.WAITING_PER_THREAD; i++) {
            FakeContext client = FakeContext.from("192.0.2." + i % 3);
            clients.add(client);
            assertThat(filter().onRequest(request("Authorization: Bearer aaaa.bbbb." + (1000 + i)), client))
                    .isInstanceOf(Verdict.Wait.class);
        }
        assertThat(filter().onRequest(request("Authorization: Bearer aaaa.bbbb.xxxx"), context))
                .isInstanceOfSatisfying(
                        Verdict.Refuse.class,
                        refuse -> assertThat(refuse.failure().cause()).isEqualTo(Cause.OVERLOAD));
        assertThat(context.held).as("of the refused one").isZero();
        verifying.forEach(Runnable::run);
        clients.forEach(FakeContext::runLoop);
        assertThat(clients).allSatisfy(client -> assertThat(client.resumed).hasSize(1));
        assertThat(ask(EC.token(claims("")))).isEqualTo(Verdict.PROCEED);
    }

    @Test
    void oneClientLeavesRoomForOthers() {
        for (int i = 0; i < SignatureWork.WAITING_PER_THREAD / 2; i++) {
            filter().onRequest(request("Authorization: Bearer aaaa.bbbb." + (1000 + i)), context);
        }
        assertThat(filter().onRequest(request("Authorization: Bearer aaaa.bbbb.xxxx"), context))
                .isInstanceOfSatisfying(
                        Verdict.Refuse.class,
                        refuse -> assertThat(refuse.failure().cause()).isEqualTo(Cause.RATE_LIMITED));
        assertThat(filter().onRequest(request("Authorization: Bearer aaaa.bbbb.xxxx"), FakeContext.from("192.0.2.77")))
                .isInstanceOf(Verdict.Wait.class);
    }
}
