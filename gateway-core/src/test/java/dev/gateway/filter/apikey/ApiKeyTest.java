package dev.gateway.filter.apikey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("NullAway.Init") // set before each test
class ApiKeyTest {
    private final AtomicReference<ApiKeys> keys = new AtomicReference<>();
    private final FakeContext context = FakeContext.from("192.0.2.1");
    private Path file;

    private static String sha256(String key) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8)));
    }

    @BeforeEach
    void open(@TempDir Path directory) throws Exception {
        file = directory.resolve("keys");
        write("# partners\npartner:" + sha256("k-1") + "\nci: sha256:"
                + sha256("k-2").toUpperCase(Locale.ROOT) + "\n");
    }

    private void write(String text) throws Exception {
        keys.set(ApiKeys.read(Files.writeString(file, text)));
    }

    private ApiKey filter(KeyPlace place, boolean forward) {
        return new ApiKey(place, keys::get, "partners", forward);
    }

    private Verdict ask(KeyPlace place, RequestHead head) {
        return filter(place, false).onRequest(head, context);
    }

    private static RequestHead request(String path, String... fields) {
        return Heads.request("GET", "shop.test", path, fields);
    }

    private String name() {
        return Objects.requireNonNull(context.identity()).name();
    }

    @Test
    void aKeyInAHeaderNamesItsHolderAndEndsHere() {
        RequestHead head = request("/a?b=c", "X-API-Key: k-1", "Accept: */*");
        assertThat(ask(KeyPlace.header("x-api-key"), head)).isEqualTo(Verdict.PROCEED);
        assertThat(name()).isEqualTo("partner");
        assertThat(head.fields().size()).isEqualTo(1);

        RequestHead kept = request("/", "X-API-Key: k-2");
        assertThat(filter(KeyPlace.header("X-API-Key"), true).onRequest(kept, context))
                .isEqualTo(Verdict.PROCEED);
        assertThat(name()).isEqualTo("ci");
        assertThat(kept.fields().size()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/a?key=k-1|/a",
                "/a?key=k-1&b=c|/a?b=c",
                "/a?b=c&key=k-1&d|/a?b=c&d",
                "/a?xkey=1&key=k-1&key2=k-2|/a?xkey=1&key2=k-2"
            })
    void aKeyInTheQueryIsTakenOut(String path, String left) {
        RequestHead head = request(path);
        assertThat(ask(KeyPlace.queryParameter("key"), head)).isEqualTo(Verdict.PROCEED);
        assertThat(head.path().toString()).isEqualTo(left);
        RequestHead kept = request(path);
        assertThat(filter(KeyPlace.queryParameter("key"), true).onRequest(kept, context))
                .isEqualTo(Verdict.PROCEED);
        assertThat(kept.path().toString()).isEqualTo(path);
    }

    @Test
    void aKeyInACookieLeavesTheOtherCookies() {
        RequestHead head = request("/", "Cookie: a=1; key=k-1", "Cookie: mykey=2; b=");
        assertThat(ask(KeyPlace.cookie("key"), head)).isEqualTo(Verdict.PROCEED);
        assertThat(String.valueOf(head.fields().first(FieldName.COOKIE))).isEqualTo("a=1; mykey=2; b=");
        RequestHead alone = request("/", "Cookie: key=k-1");
        assertThat(ask(KeyPlace.cookie("key"), alone)).isEqualTo(Verdict.PROCEED);
        assertThat(alone.fields().size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/?key=",
                "/?key=wrong",
                "/?key=k-1&key=k-1",
                "/?KEY=k-1",
                "/?akey=k-1",
                "/?key=k-1%20",
                "/key=k-1"
            })
    void othersGetNoFurther(String path) {
        Verdict verdict = ask(KeyPlace.queryParameter("key"), request(path, "X-API-Key: k-1"));
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
            assertThat(refuse.failure().cause()).isEqualTo(Cause.AUTHZ_DENIED);
            assertThat(refuse.failure().status()).isEqualTo(401);
            assertThat(refuse.failure().detail()).doesNotContain("wrong API key k");
            assertThat(String.valueOf(refuse.fields().first(FieldName.WWW_AUTHENTICATE)))
                    .isEqualTo("ApiKey realm=\"partners\"");
        });
        assertThat(context.identity()).isNull();
    }

    /** An upstream that gets the query as it is may take another key than the one that was checked. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "k%65y=FORGED&key=k-1",
                "key=k-1&k%65y=FORGED",
                "KEY=FORGED&key=k-1",
                "+key=FORGED&key=k-1",
                "key%20=FORGED&key=k-1",
                "%0akey=FORGED&key=k-1",
                "key[]=FORGED&key=k-1",
                "key%5b0%5d=FORGED&key=k-1",
                "key%00x=FORGED&key=k-1",
                "a=b;key=FORGED&key=k-1",
                "key=k-1;key=FORGED",
                "key&key=k-1"
            })
    void aSecondKeyUnderAnotherSpellingIsASecondOne(String query) {
        for (boolean forward : new boolean[] {true, false}) {
            assertThat(filter(KeyPlace.queryParameter("key"), forward).onRequest(request("/a?" + query), context))
                    .as(query)
                    .isInstanceOf(Verdict.Refuse.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "key =FORGED; key=k-1",
                "key=k-1; \tkey=FORGED",
                "Key=FORGED; key=k-1",
                "k%65y=FORGED; key=k-1",
                "a=b, key=FORGED; key=k-1",
                "key=k-1,key=FORGED",
                "key=k-1; a=b,key =FORGED"
            })
    void aSecondCookieUnderAnotherSpellingIsASecondOne(String cookies) {
        assertThat(filter(KeyPlace.cookie("key"), true).onRequest(request("/", "Cookie: " + cookies), context))
                .isInstanceOf(Verdict.Refuse.class);
        assertThat(filter(KeyPlace.cookie("api_key"), true)
                        .onRequest(request("/", "Cookie: api.key=FORGED; api_key=k-1"), context))
                .isInstanceOf(Verdict.Refuse.class);
    }

    /** Also of a request that goes on although it was refused, as where another filter is enough. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/a?k%65y=1&b=c|/a?b=c",
                "/a?b=c;KEY=1;d=e&f|/a?b=c;d=e&f",
                "/a?key=1;b=c&d|/a?d",
                "/a?b=key;keys=1&monkey|/a?b=key;keys=1&monkey"
            })
    void whatMayBeReadAsAKeyIsTakenOut(String path, String left) {
        RequestHead head = request(path);
        assertThat(ask(KeyPlace.queryParameter("key"), head)).isInstanceOf(Verdict.Refuse.class);
        assertThat(head.path().toString()).isEqualTo(left);
        RequestHead cookies = request("/", "Cookie: a=b, key=1,c=d; e=f", "Cookie: KEY=2");
        assertThat(ask(KeyPlace.cookie("key"), cookies)).isInstanceOf(Verdict.Refuse.class);
        assertThat(String.valueOf(cookies.fields().first(FieldName.COOKIE))).isEqualTo("a=b,c=d; e=f");
    }

    @Test
    void theDigestIsNoKeyAndSeveralOrLongKeysAreNone() throws Exception {
        KeyPlace place = KeyPlace.header("X-API-Key");
        assertThat(ask(place, request("/", "X-API-Key: " + sha256("k-1")))).isInstanceOf(Verdict.Refuse.class);
        assertThat(ask(place, request("/", "X-API-Key: k-1", "X-API-Key: k-1"))).isInstanceOf(Verdict.Refuse.class);
        String longKey = "k".repeat(600);
        write("a:" + sha256(longKey) + "\n");
        assertThat(ask(place, request("/", "X-API-Key: " + longKey))).isInstanceOf(Verdict.Refuse.class);
    }

    @Test
    void aFileWithAMistakeIsNotUsed() {
        assertThatThrownBy(() -> write("a:k-1\n"))
                .hasMessageStartingWith(file + ":1:1: expected the SHA-256 of a key")
                .hasMessageNotContaining("k-1\"");
        assertThatThrownBy(() -> write("a:" + sha256("x") + "\nb:" + sha256("x") + "\n"))
                .hasMessage(file + ":2:1: a key for a second time");
    }
}
