package dev.gateway.message.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.path.PathReadings.Separators;
import io.netty.util.AsciiString;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathReadingsTest {
    /** Returns the readings of servers that decode slashes, by whatever system. */
    private static Set<AsciiString> readings(AsciiString path, int length) {
        Set<AsciiString> readings = new LinkedHashSet<>(PathReadings.of(path, length, Separators.BOTH));
        readings.addAll(PathReadings.of(path, length, Separators.SLASH));
        return readings;
    }

    @ParameterizedTest
    @CsvSource({
        "/admin%2Fx, /admin/x",
        "/admin%5Cx, /admin/x /admin\\x",
        "/admin%2Fopen%5C, /admin/open/ /admin/open\\",
        "/x%5C..%3Ba/y, /y /x/..;a/y /x\\..;a/y /x\\../y /x\\/y",
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
        assertThat(readings(bytes, bytes.length()))
                .extracting(AsciiString::toString)
                .containsExactlyInAnyOrder(wanted);
    }

    @ParameterizedTest
    @CsvSource({
        "/repos;x/a%2Fb, /repos;x/a%2Fb /repos/a%2Fb",
        "/%40a/open%2fx%5c, /@a/open%2Fx%5C",
        "/a%252Fb, /a%2Fb",
        "/a%2F%09, '/a%2F\t /a%2F'",
    })
    void separatorsMayStayEscaped(String path, String readings) {
        AsciiString bytes = new AsciiString(path);
        assertThat(PathReadings.of(bytes, bytes.length(), Separators.NONE))
                .extracting(AsciiString::toString)
                .containsExactlyInAnyOrder(readings.split(" "));
    }

    /** Some servers drop parameters and decode nothing. */
    @Test
    void parametersMayBeDroppedAlone() {
        AsciiString path = new AsciiString("/users;x/../bob%40corp;y?;z");
        assertThat(PathReadings.all(path, path.length() - 3, false))
                .contains(new PathReadings.Reading(new AsciiString("/bob%40corp"), null));
    }

    /** How the paths of rules are read: as written, or as the reading was made. */
    @ParameterizedTest
    @CsvSource({
        "/a., true, null BOTH SLASH NONE",
        "/a., false, null",
        "/a%20b, true, BOTH SLASH NONE",
        "/a%20b, false, BOTH",
        "/a%2Fb, false, BOTH NONE",
        "/a%5Cb, false, BOTH SLASH NONE",
        "/a;%20, false, BOTH null",
        "/a%20?;, false, BOTH",
    })
    void readingsAreLookedUpAsTheyWereMade(String path, boolean hasEscapedRules, String rules) {
        AsciiString bytes = new AsciiString(path);
        int length = path.indexOf('?') < 0 ? path.length() : path.indexOf('?');
        assertThat(PathReadings.all(bytes, length, hasEscapedRules))
                .extracting(each -> String.valueOf(each.ofRules()))
                .containsOnly(rules.split(" "));
    }

    @ParameterizedTest
    @CsvSource({
        "/staff%0A, /staff",
        "/staff%0D%0A, /staff",
        "/%09staff%1F/x%7F, /staff/x",
        "/staff%20, /staff",
        "/%20staff%20%0A/x, /staff/x",
        "/my%20own/x, "
    })
    void controlCharactersAndSpacesAtTheEndsMayBeIgnored(String path, @Nullable String reading) {
        AsciiString bytes = new AsciiString(path);
        String decoded = PathReadings.decode(bytes, Separators.BOTH).toString();
        assertThat(readings(bytes, bytes.length()))
                .extracting(AsciiString::toString)
                .containsExactlyElementsOf(reading == null ? List.of(decoded) : List.of(decoded, reading));
    }

    @ParameterizedTest
    @CsvSource({
        "/admin%3F, /admin? /admin",
        "/admin%3Fx=1, /admin?x=1 /admin",
        "/admin%23x%3F/y, /admin#x?/y /admin",
        "/admin/%3F, /admin/? /admin/",
        "/x/..%3Fy, /x/..?y /",
        "/admin;a%3F/b, /admin;a?/b /admin;a /admin/b /admin",
        "/admin%253F, /admin%3F",
    })
    void aDecodedPathMayEndAtAQuestionMarkOrNumberSign(String path, String readings) {
        AsciiString bytes = new AsciiString(path);
        assertThat(readings(bytes, bytes.length()))
                .extracting(AsciiString::toString)
                .containsExactlyInAnyOrder(readings.split(" "));
    }

    @ParameterizedTest
    @CsvSource({
        "/admin., /admin. /admin",
        "/admin.../x, /admin.../x /admin/x",
        "/.../admin, /.../admin /admin",
        "/admin/..., /admin/... /admin/",
        "/admin.;a=1, /admin.;a=1 /admin. /admin",
        "/admin.%3F, /admin.? /admin. /admin",
        "/admin.%0A, '/admin.\n /admin. /admin'",
        "/admin::$DATA, /admin::$DATA /admin",
        "/admin.::%24data, /admin.::$data /admin",
        "/admin:$i30:$INDEX_ALLOCATION/x, /admin:$i30:$INDEX_ALLOCATION/x /admin/x",
        "/v1/items:list/x., /v1/items:list/x. /v1/items:list/x",
    })
    void windowsIgnoresDotsAtTheEndOfANameAndTheNameOfAStream(String path, String readings) {
        AsciiString bytes = new AsciiString(path);
        assertThat(PathReadings.isAmbiguous(bytes, bytes.length())).isTrue();
        assertThat(readings(bytes, bytes.length()))
                .extracting(AsciiString::toString)
                .containsExactlyInAnyOrder(readings.replace("\\n", "\n").split(" "));
    }

    @Test
    void windowsIgnoresDotsAndSpacesInAnyOrder() {
        AsciiString path = new AsciiString("/admin.%20.%20/%20x%20");
        assertThat(readings(path, path.length()))
                .extracting(AsciiString::toString)
                .containsExactlyInAnyOrder("/admin. . / x ", "/admin. ./x", "/admin/ x", "/admin/x");

        AsciiString dots = new AsciiString("/x/.%01./staff%0A");
        assertThat(readings(dots, dots.length()))
                .extracting(AsciiString::toString)
                .containsExactlyInAnyOrder("/x/.\u0001./staff\n", "/staff", "/x/.\u0001/staff\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/admin",
                "/admin/",
                "/.git/x",
                "/a..b/$metadata",
                "/p/$all:x",
                "/a:b",
                "/a.b/c-d_e~f",
                "*",
                "/a|b@c:d"
            })
    void mostPathsAreReadInOneWay(String path) {
        AsciiString bytes = new AsciiString(path);
        assertThat(PathReadings.isAmbiguous(bytes, bytes.length())).isFalse();
    }

    @Test
    void theQueryIsNoPartOfIt() {
        AsciiString dots = new AsciiString("/a?b.");
        assertThat(PathReadings.isAmbiguous(dots, 2)).isFalse();
        assertThat(PathReadings.hasEscapes(new AsciiString("/a?%20"), 2)).isFalse();
        AsciiString path = new AsciiString("/a?b=%2F;c");
        assertThat(PathReadings.isAmbiguous(path, 2)).isFalse();
        assertThat(readings(path, 2)).containsExactly(new AsciiString("/a"));
    }

    @Test
    void noReadingClimbsOrHasAnEmptySegment() {
        Random random = new Random(7);
        String[] parts = {"/", "a", ".", "..", ";", "%2F", "%5C", "%3B", "%25", "%20", "%3F", ":$", "x=1"};
        int read = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder path = new StringBuilder("/");
            for (int n = random.nextInt(10); n > 0; n--) {
                path.append(parts[random.nextInt(parts.length)]);
            }
            AsciiString normal = PathNormalizer.normalize(new AsciiString(path));
            if (normal != null) {
                read++;
                for (PathReadings.Reading each : PathReadings.all(normal, normal.length(), true)) {
                    String reading = each.path().toString();
                    assertThat(reading).startsWith("/").doesNotContain("//");
                    assertThat((reading + "/").contains("/../"))
                            .as("%s is %s", normal, reading)
                            .isFalse();
                }
            }
        }
        assertThat(read).isGreaterThan(1000);
    }
}
