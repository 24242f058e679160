package dev.gateway.filter.compression;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which content types are meant. */
class MediaTypesTest {
    private final MediaTypes types =
            new MediaTypes(List.of("text/*", "application/json", "application/*+json", "*/*+xml", "image/svg"));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "text/html",
                "TEXT/HTML",
                "text/html;charset=utf-8",
                "text/html ; charset=utf-8",
                "text/html\t;a=b",
                "application/json",
                "application/JSON; a=b",
                "application/problem+json",
                "application/vnd.a.b+json",
                "application/+json",
                "image/svg+xml",
                "application/atom+xml",
                "image/svg",
            })
    void theseAre(String type) {
        assertThat(types.cover(new AsciiString(type))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "text",
                ";",
                "text;/html",
                "atext/html",
                "image/png",
                "application/json5",
                "application/jso",
                "text+json/x",
                "image/problem+json",
                "application/json+x",
                "application/x; a=b+json",
                "image/svgs",
            })
    void theseAreNot(String type) {
        assertThat(types.cover(new AsciiString(type))).isFalse();
    }
}
