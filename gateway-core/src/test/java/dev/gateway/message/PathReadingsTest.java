package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathReadingsTest {
    @ParameterizedTest
    @CsvSource({
        "/admin%2Fx, /admin/x",
        "/admin%5Cx, /admin/x",
        "/%2Fadmin, /admin",
        "/admin%2F, /admin/",
        "/a%20b, /a b",
        "/admin;a=1/x, /admin;a=1/x /admin/x",
        "/admin;/x, /admin;/x /admin/x",
        "/;a/admin, /;a/admin /admin",
        "/admin;a%2Fx, /admin;a/x /admin /admin/x",
        "/admin%3Ba/x, /admin;a/x /admin/x",
        "/x/..%3Ba/admin, /x/..;a/admin /admin",
        "/x;a, /x;a /x",
        "/x/;a, /x/;a /x/",
        "/a%252Fb, /a%2Fb",
        "/@scope%2Fname/-/a.tgz, /@scope/name/-/a.tgz",
    })
    void aPathIsReadInAllTheseWays(String path, String readings) {
        AsciiString bytes = new AsciiString(path);
        assertThat(PathReadings.isAmbiguous(bytes, bytes.length())).isTrue();
        String[] wanted = readings.equals("/a b") ? new String[] {readings} : readings.split(" ");
        assertThat(PathReadings.of(bytes, bytes.length()))
                .extracting(AsciiString::toString)
                .containsExactlyInAnyOrder(wanted);
    }

    @ParameterizedTest
    @CsvSource({
        "/staff%0A, /staff",
        "/staff%0D%0A, /staff",
        "/%09staff%1F/x%7F, /staff/x",
        "/staff%20, /staff",
        "/%20staff%20%0A/x, /staff/x",
        "/x/.%01./staff%0A, /staff",
        "/my%20own/x, "
    })
    void controlCharactersAndSpacesAtTheEndsMayBeIgnored(String path, @Nullable String reading) {
        AsciiString bytes = new AsciiString(path);
        String decoded = PathReadings.decode(bytes).toString();
        assertThat(PathReadings.of(bytes, bytes.length()))
                .extracting(AsciiString::toString)
                .containsExactlyElementsOf(reading == null ? List.of(decoded) : List.of(decoded, reading));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/admin", "/admin/", "/a.b/c-d_e~f", "*", "/a|b@c:d"})
    void mostPathsAreReadInOneWay(String path) {
        AsciiString bytes = new AsciiString(path);
        assertThat(PathReadings.isAmbiguous(bytes, bytes.length())).isFalse();
    }

    @Test
    void theQueryIsNoPartOfIt() {
        AsciiString path = new AsciiString("/a?b=%2F;c");
        assertThat(PathReadings.isAmbiguous(path, 2)).isFalse();
        assertThat(PathReadings.of(path, 2)).containsExactly(new AsciiString("/a"));
    }

    @Test
    void noReadingClimbsOrHasAnEmptySegment() {
        Random random = new Random(7);
        String[] parts = {"/", "a", ".", "..", ";", "%2F", "%5C", "%3B", "%25", "%20", "x=1"};
        int read = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder path = new StringBuilder("/");
            for (int n = random.nextInt(10); n > 0; n--) {
                path.append(parts[random.nextInt(parts.length)]);
            }
            AsciiString normal = PathNormalizer.normalize(new AsciiString(path));
            if (normal != null) {
                read++;
                for (AsciiString reading : PathReadings.of(normal, normal.length())) {
                    assertThat(reading.toString()).startsWith("/").doesNotContain("//");
                    assertThat(("" + reading + "/").contains("/../"))
                            .as("%s is %s", normal, reading)
                            .isFalse();
                }
            }
        }
        assertThat(read).isGreaterThan(1000);
    }
}
