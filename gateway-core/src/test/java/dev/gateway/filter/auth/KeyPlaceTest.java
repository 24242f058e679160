package dev.gateway.filter.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

    private static String query(String query) {
        return String.valueOf(new KeyPlace.QueryParameter(KEY).find(head("/?" + query), false));
    }

    private static RequestHead head(String path) {
        AsciiString host = new AsciiString("app.example");
        return new RequestHead(Method.GET, new AsciiString("http"), host, new AsciiString(path), new Fields(), 0);
    }
}
