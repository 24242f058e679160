package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Statistics of another version of the gateway are read as far as they go. */
class JsonViewTest {
    private final JsonView view = JsonView.parse(
            """
            {"a": {"b": 1.5, "word": "x", "yes": true, "none": null}, "list": [{"n": 1}, {"n": 2}], "text": "7"}
            """);

    @Test
    void whatIsThereIsRead() {
        assertThat(view.number("a", "b")).isEqualTo(1.5);
        assertThat(view.text("a", "word")).isEqualTo("x");
        assertThat(view.isTrue("a", "yes")).isTrue();
        assertThat(view.list("list")).extracting(each -> each.number("n")).containsExactly(1.0, 2.0);
        assertThat(view.numbers("a")).isEqualTo(Map.of("b", 1.5));
    }

    @Test
    void whatIsMissingOrOfAnotherKindIsNothing() {
        assertThat(view.number("a", "word")).isZero();
        assertThat(view.number("text")).as("a text that looks like a number").isZero();
        assertThat(view.number("a", "b", "c")).isZero();
        assertThat(view.text("a", "none")).isEmpty();
        assertThat(view.text("nowhere")).isEmpty();
        assertThat(view.isTrue("a", "word")).isFalse();
        assertThat(view.list("a")).isEmpty();
        assertThat(view.numbers("list")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "{} {}", "[1, 2", "\"unclosed"})
    void whatIsNoDocumentIsRefused(String text) {
        assertThatThrownBy(() -> JsonView.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the answer is not JSON");
    }
}
