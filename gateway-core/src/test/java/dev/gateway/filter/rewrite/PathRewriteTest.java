package dev.gateway.filter.rewrite;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PathRewriteTest {
    @ParameterizedTest
    @ValueSource(strings = {"x", "/a?b", "/a b", "/..", "/a#b", "/\u20ac", "*"})
    void aReplacementIsAPath(String replacement) {
        assertThatThrownBy(() -> PathRewrite.full(replacement)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PathRewrite.prefix(replacement)).isInstanceOf(IllegalArgumentException.class);
    }
}
