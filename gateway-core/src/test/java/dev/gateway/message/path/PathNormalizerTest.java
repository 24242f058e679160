package dev.gateway.message.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathNormalizerTest {
    private static AsciiString bytes(String text) {
        return new AsciiString(text, StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "*",
                "",
                "/a",
                "/a/b/",
                "/a.b/..c/.well-known/...",
                "/a%2Fb",
                "/a%20b",
                "/%C3%A9",
                "/a?b=//../%zz",
                "/?",
                "/a;v=1/b",
                "/a|b{c}",
                "/%2525",
                "/@scope%2Fname",
                "/a%5Cb",
                "/a:b@c!$&'()*+,=",
                "/..a",
                "/a..;b",
                "/.a;b"
            })
    void normalPathsStayTheSameInstance(String path) {
        AsciiString text = bytes(path);
        assertThatObject(PathNormalizer.normalize(text)).isSameAs(text);
    }

    @ParameterizedTest
    @CsvSource({
        "//,/",
        "//a,/a",
        "/a//b///c//,/a/b/c/",
        "/a/./b,/a/b",
        "/./a,/a",
        "/.,/",
        "/a/.,/a/",
        "/a/b/..,/a/",
        "/a/b/../c,/a/c",
        "/a/b/../../c,/c",
        "/a/..,/",
        "/a/../,/",
        "/a//../b,/b",
        "/a/%2e%2E/b,/b",
        "/a/.%2e/b,/b",
        "/%2e/b,/b",
        "/%61%7E%41%5f,/a~A_",
        "/a%2fb%5cc,/a%2Fb%5Cc",
        "/%c3%a9,/%C3%A9",
        "/a/../b?c=/../%2e,/b?c=/../%2e",
        "/a%3Fb?c,/a%3Fb?c",
        "/%2E%2Ea/x,/..a/x"
    })
    void thePathThatIsMatchedIsTheOneThatIsForwarded(String path, String normal) {
        AsciiString once = Objects.requireNonNull(
                PathNormalizer.normalize(bytes("xx" + path).subSequence(2)));

        assertThatObject(once).isEqualTo(bytes(normal));
        assertThatObject(PathNormalizer.normalize(once)).isSameAs(once);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/..",
                "/../a",
                "/a/../..",
                "/a/../../b",
                "/%2e%2e/a",
                "/a%00b",
                "/a%0",
                "/a%",
                "/%zz",
                "/%4",
                "/a%?41",
                "/a\\b",
                "/a\\..\\b",
                "/a#b",
                "/a b",
                "/a\tb",
                "/a\u007f",
                "/a?b#c",
                "/a?b c",
                "a",
                "http://a/",
                "?a",
                "/a/..%2Fb",
                "/a/..%2fb",
                "/a/%2e%2e%2fb",
                "/a%2F../b",
                "/a%2F..",
                "/a%2F.%2Fb",
                "/a/..%5Cb",
                "/..;/a",
                "/a/..;x=1/b",
                "/a/.;/b",
                "/a/%2e%2e;/b",
                "/a%5c..%5c/b",
                "/a/\u0000",
                "**"
            })
    void whatAnUpstreamMightReadDifferentlyIsRefused(String path) {
        assertThatObject(PathNormalizer.normalize(bytes(path))).isNull();
    }

    @Test
    void normalizingTwiceChangesNothingAndLeavesNothingThatClimbs() {
        Random random = new Random(7);
        String[] parts = {"/", "/", ".", "..", "%2e", "%2F", "%5c", "a", "b", ";", "%25", "%41", "x", "?"};
        int accepted = 0;
        for (int i = 0; i < 50_000; i++) {
            StringBuilder path = new StringBuilder("/");
            for (int n = random.nextInt(9); n > 0; n--) {
                path.append(parts[random.nextInt(parts.length)]);
            }
            AsciiString normal = PathNormalizer.normalize(bytes(path.toString()));
            if (normal != null) {
                accepted++;
                assertThatObject(PathNormalizer.normalize(normal))
                        .as(path.toString())
                        .isSameAs(normal);
                String decoded = normal.toString()
                        .replaceFirst("\\?.*", "")
                        .replace("%2F", "/")
                        .replace("%5C", "/");
                for (String segment : decoded.split("/", -1)) {
                    assertThat(segment.replaceFirst(";.*", ""))
                            .as(path.toString())
                            .isNotIn(".", "..");
                }
                assertThat(normal.toString().replaceFirst("\\?.*", "")).doesNotContain("//");
            }
        }
        assertThat(accepted).isBetween(10_000, 45_000);
    }
}
