package dev.gateway.config.yaml.schema.route;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathExpressionsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api(/.*)?",
                "/caf%C3%A9(/.*)?",
                "(?i)/caf%c3%a9",
                "/(%c3|%C3)%A9",
                "/x/./y",
                "/x/..(/|y)",
                "/x/\\.{3}",
                "/x(/\\.)?",
                "/x/\\.[a-z]+",
                "/x/(/.*)?",
                "/x/+/?y",
                "/%2[Ff]",
                "/%2?5",
                ".*%(2F|5C).*",
                ".*\\\\.*",
                "[^\\x00-\\x7f]/x",
                "/\\Q//\\E",
                "/\\\\xe9",
                "/\\.well-known/([^./][^/]*/?)*",
                ".*[ ].*",
                "/x\\??",
                "/x?"
            })
    void nothingIsSaidOfAnExpressionThatSomePathMatches(String expression) {
        assertThat(PathExpressions.problem(expression)).isNull();
        assertThat(PathExpressions.foreignProblem(expression, false)).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "/x/\\./y; write it without them",
                "/x/\\.\\.; write it without them",
                "/x/\\.; write it without them",
                "(/a//b|//c)(/.*)?; write it without them",
                "/a//b|//c; write it without them",
                "/(x y|y z)/\\.\\./z; write it without them"
            })
    void anExpressionThatNoPathMatchesIsRefused(String expression, String fix) {
        PathExpressions.Problem problem = Objects.requireNonNull(PathExpressions.problem(expression));
        assertThat(problem.isError()).isTrue();
        assertThat(problem.text()).startsWith("never matches").endsWith(fix);
    }

    /** It may match what a server makes of a path, where a rule guards. But the paths that are meant would pass. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "/x/%2e/y; write it without them",
                "/x/%2E%2e; write it without them",
                "(?i)/%c3%61; write 'a' for '%61'",
                "/x%2Dy; write '-' for '%2D'",
                "/x%7e; write '~' for '%7e'",
                "/x(%2f)y; write '%2F' for '%2f'",
                "/x/%2ehidden; write '\\.' for '%2e'"
            })
    void anExpressionThatOnlyOtherReadingsMatchIsRefused(String expression, String fix) {
        PathExpressions.Problem problem = Objects.requireNonNull(PathExpressions.problem(expression));
        assertThat(problem.isError()).isTrue();
        assertThat(problem.text()).startsWith("matches no path in normal form").endsWith(fix);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a|/x//y", "/x%2f|/x%2F", "/a b", "/a\\?b=c", "/x#y", "(/a\\?b|//c)", "/a\tb"})
    void anExpressionThatSomethingMayMatchGetsAWarning(String expression) {
        PathExpressions.Problem problem = Objects.requireNonNull(PathExpressions.problem(expression));
        assertThat(problem.isError()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "/caf\u00e9; '%C3%A9' for '\u00e9'",
                "/caf[\u00e9\u00e8]; '%C3%A9' for '\u00e9', not within [ ]",
                "/caf(\u00e9|\u00e8)+; '%C3%A9' for '\u00e9'",
                "/\u00e9|/\u00e8x?; '%C3%A9' for '\u00e9'",
                "/caf\\x{e9}; '%C3%A9' for '\u00e9'",
                "/caf\\\\\\xE9; '%C3%A9' for '\u00e9'",
                "/caf\\351; '%C3%A9' for '\u00e9'",
                "/\u674e; '%E6%9D%8E' for '\u674e'",
                "/\ud83d\ude00; their escapes, such as %C3%A9"
            })
    void nonAsciiCharactersAreRefused(String expression, String fix) {
        PathExpressions.Problem problem = Objects.requireNonNull(PathExpressions.worst(expression, false));
        assertThat(problem.isError()).isTrue();
        assertThat(problem.text()).endsWith("write " + fix);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/(caf\u00e9|cafe)",
                "/caf\u00e9|/cafe",
                "/caf[e\u00e9]",
                "/caf[e\\x{e9}]+",
                "/caf[^\u00e9]",
                "/cafe\u00e9?",
                "/cafe(\u00e9|\u00e8){0,2}",
                "/caf(e(\u00e9|x))",
                "/[\\x00-\\x{10ffff}]",
                "(?i)/\u212a", // is a k, too
                "/\\p{L}\u00e9" // not understood
            })
    void nonAsciiCharactersThatNotAllMatchesHaveGetAWarning(String expression) {
        PathExpressions.Problem problem = Objects.requireNonNull(PathExpressions.worst(expression, false));
        assertThat(problem.isError()).isFalse();
        assertThat(problem.text()).startsWith("a path has no non-ASCII characters: write ");
    }

    @Test
    void theWorseOfTwoProblemsIsTold() {
        PathExpressions.Problem problem = Objects.requireNonNull(PathExpressions.worst("/caf[e\u00e9]//x", false));
        assertThat(problem.isError()).isTrue();
        assertThat(problem.text()).startsWith("never matches");
    }

    @Test
    void ofASecretExpressionNothingIsQuoted() {
        PathExpressions.Problem problem = Objects.requireNonNull(PathExpressions.worst("/caf\u00e9", true));
        assertThat(problem.isError()).isTrue();
        assertThat(problem.text()).endsWith("write their escapes, such as %C3%A9");
        assertThat(PathExpressions.worst("/x//y", true)).isNull();
    }
}
