package dev.gateway.config.yaml.schema.route;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SearchExpressionsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api",
                "/.*\\.php$",
                "^/api(/.*|$)",
                "^/api/[\\s\\S]*",
                "(^/x)$",
                "^*/x",
                "/a{,3}",
                "^/api$",
                "^/api.*",
                "^/api(/.*)?",
                "^/api/(.*)$",
                "^/api.+",
                ".*\\.php$",
                "(.*/)?x$",
                "/price\\$",
                "/price\\\\\\$",
                "[/]x",
                "[^a]x",
                "(|a)/x",
                "a?/x",
                "(a|/)x",
                "(?i)(?:/a|b)",
                "\\x2fapi",
                "\\Q/a\\E",
                "\\pPx",
                "[[:punct:]]x",
                "\\.php$|/x",
                ".",
                "\\S+",
                "\\W.*",
                "\\*",
                "(\\*)",
                "a*",
                "(?P<name>/x)",
                "((/))"
            })
    void nothingIsSaidOfAnExpressionThatIsNotForASearch(String expression) {
        assertThat(SearchExpressions.problemOfPath(expression)).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\\.php$",
                "php$",
                "{x}",
                "^api",
                "[^/]\\.php(/|$)",
                "(?i)\\.(jpg|png)$",
                "(api|v1)/.*",
                "x*y",
                "\\.a|\\.b",
                "[]a]x",
                "[^]/]x",
                "(?P<name>x)/",
                "(a(b)?)?c",
                "\\d+",
                "~ \\.php$"
            })
    void anExpressionThatMatchesNoPathIsFound(String expression) {
        assertThat(SearchExpressions.problemOfPath(expression)).startsWith("never matches");
    }

    @Test
    void aProposalThatWouldBeCutIsNotShown() {
        assertThat(SearchExpressions.problemOfPath("\\.(jpg|jpeg|png|gif|ico|css|js|svg|woff|woff2|ttf|eot|webp|mp4)$"))
                .endsWith("which begins with '/': write each part with '/' or '/.*' before it");
    }

    @Test
    void aLongExpressionIsNotLookedAt() {
        assertThat(SearchExpressions.problemOfPath("x" + "(".repeat(1_000) + ")".repeat(1_000)))
                .isNull();
        assertThat(SearchExpressions.problemOfPath("(".repeat(140) + "x" + ")".repeat(140)))
                .startsWith("never matches");
    }
}
