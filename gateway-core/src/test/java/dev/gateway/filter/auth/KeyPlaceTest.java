package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyPlaceTest {
    private static final AsciiString KEY = new AsciiString("key");

    /** Each part was once searched to the end of all parts: a million of them would take hours. */
    @Timeout(60)
    @Test
    void aMillionPartsWithoutAValueAreSearchedOnce() {
        String parts = "a;".repeat(1_000_000);
        assertThat(query(parts)).isEqualTo("null");
        assertThat(query(parts + "&key=k")).isEqualTo("k");
        RequestHead head = head("/");
        head.fields().add(new AsciiString("cookie"), new AsciiString(parts.replace(';', ',') + "; key=k"));
        assertThat(String.valueOf(new KeyPlace.Cookie(KEY).find(head, false))).isEqualTo("k");
    }

    @Test
    void aKeyIsWhatItIsToItsLastByte() {
        RequestHead head = head("/");
        byte[] cookies = "other=1; key=k\u00e9\u00ff ; more=2".getBytes(StandardCharsets.ISO_8859_1);
        head.fields().add(new AsciiString("cookie"), new AsciiString(cookies));
        assertThat(String.valueOf(new KeyPlace.Cookie(KEY).find(head, true))).isEqualTo("k\u00e9\u00ff");
    }

    @Test
    void aKeyIsTakenOutOfThePathThatTheUpstreamIsTold() {
        RequestHead head = head("/a/b?key=k&x=1");
        head.setForwardedPath(new AsciiString("//a/%62?key=k&x=1"));
        new KeyPlace.QueryParameter(KEY).find(head, true);
        assertThat(head.path().toString()).isEqualTo("/a/b?x=1");
        assertThat(head.forwardedPath().toString()).isEqualTo("//a/%62?x=1");
    }

    /** Where odd names are allowed, an upstream may take the other field for the one that was checked. */
    @ParameterizedTest
    @ValueSource(strings = {"X_API_Key", "x.api.key", "X-API_Key", "X~Api~Key"})
    void aHeaderUnderANameThatLooksAlikeIsAnotherKey(String twin) {
        KeyPlace place = KeyPlace.header("X-API-Key");
        RequestHead head = head("/");
        head.fields().add(FieldName.of("X-API-Key"), "k");
        assertThat(String.valueOf(place.find(head, false))).isEqualTo("k");
        head.fields().add(FieldName.of(twin), "other");
        assertThatObject(place.find(head, false)).isNull();
        assertThat(head.fields().size()).isEqualTo(2);
        assertThatObject(place.find(head, true)).isNull();
        assertThat(head.fields().size()).isZero();
    }

    @Test
    void aHeaderUnderANameThatLooksAlikeIsNotTheKey() {
        RequestHead head = head("/");
        head.fields().add(FieldName.of("X_API_Key"), "k");
        head.fields().add(FieldName.of("X-API-Keys"), "stays");
        assertThatObject(KeyPlace.header("X-API-Key").find(head, true)).isNull();
        assertThat(head.fields()).hasToString("X-API-Keys: stays\n");
    }

    private static String query(String query) {
        return String.valueOf(new KeyPlace.QueryParameter(KEY).find(head("/?" + query), false));
    }

    private static RequestHead head(String path) {
        AsciiString host = new AsciiString("app.example");
        return new RequestHead(Method.GET, new AsciiString("http"), host, new AsciiString(path), new Fields(), 0);
    }
}
