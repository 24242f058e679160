package dev.gateway.config.yaml.type;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What a message says to write is YAML, and means what was written. */
class ListHintsTest {
    private static Object read(String yaml) {
        return new Load(LoadSettings.builder().build()).loadFromString("{key: " + yaml + "}");
    }

    private static Object holding(Object... elements) {
        return Map.of("key", List.of(elements));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*",
                "&a",
                "!b",
                "%c",
                "@d",
                "`e",
                "|",
                ">",
                "-",
                "- a",
                "?",
                ":",
                "a:",
                "a: b",
                "#f",
                "a #b",
                "{g}",
                "[h]",
                "${NAME}",
                "'",
                "\"",
                "it's",
                "say \"no\"",
                "\\d+",
                "a{1,2}",
                "null",
                "~",
                "true",
                "",
                " a ",
                "GET",
                "https://shop.example",
                "10.0.0.0/8",
                "*.example.com",
                ".example.org",
                "2001:db8::1",
                "X-A",
                "a b",
                "text/*",
                "*/*",
                "a,",
                ",",
                "=x",
                "<<",
                "(a)",
                "^/api$"
            })
    void aTextIsWrittenAsAListOfItself(String text) {
        assertThat(read(MessageText.list(text))).isEqualTo(holding(text));
    }

    @Test
    void wordsWithCommasAreSeveralElements() {
        assertThat(MessageText.list("GET, POST")).isEqualTo("[GET, POST]");
        assertThat(read(MessageText.list("*,a , &b"))).isEqualTo(holding("*", "a", "&b"));
    }

    @Test
    void whatCannotBeShownWholeIsNotToBeCopied() {
        assertThat(MessageText.list("a".repeat(100))).isEmpty();
        assertThat(MessageText.list("http://user:secret@a.example")).isEmpty();
    }
}
