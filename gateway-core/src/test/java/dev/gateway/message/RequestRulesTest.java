package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestRulesTest {
    @ParameterizedTest
    @ValueSource(strings = {"a", "a.test", "a.test:", "a.test:8080", "[::1]:1", "127.0.0.1", ""})
    void hostsThatAreValid(String authority) {
        assertThat(RequestRules.problem(Heads.request("GET", authority, "/"))).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "user@a", "a/b", "a:x", "a:80:80", "a,b", "(a)", "a%2eb", "[", "[]", ":80", "a b", ".a", "a..", "a..b"
            })
    void hostsThatAreNone(String authority) {
        assertThat(RequestRules.problem(Heads.request("GET", authority, "/"))).contains("host");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "a:", "a:x", "a:0", "a:65536", "user@a:1", "a..:1", "a..b:1"})
    void aConnectNeedsHostAndPort(String authority) {
        assertThat(RequestRules.problem(Heads.request("CONNECT", authority, "")))
                .contains("CONNECT");
    }

    @ParameterizedTest
    @CsvSource({"OPTIONS, true", "GET, false", "POST, false"})
    void anAsteriskIsForOptions(String method, boolean valid) {
        assertThat(RequestRules.problem(Heads.request(method, "a.test", "*")) == null)
                .isEqualTo(valid);
    }

    @Test
    void aConnectHasNoContent() {
        RequestHead head = new RequestHead(
                Method.of("CONNECT"),
                new AsciiString("http"),
                new AsciiString("a.test:443"),
                AsciiString.EMPTY_STRING,
                new Fields(),
                1);
        assertThat(RequestRules.problem(head)).contains("content");
    }
}
