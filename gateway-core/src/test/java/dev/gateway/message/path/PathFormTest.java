package dev.gateway.message.path;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathFormTest {
    private static String of(PathForm form, String path) {
        AsciiString written = new AsciiString(path);
        AsciiString normal = Objects.requireNonNull(PathNormalizer.normalize(written));
        return form.of(written, normal).toString();
    }

    @ParameterizedTest // a path, then as the upstream gets it
    @CsvSource({
        "/a/b, /a/b",
        "/a//b, /a//b",
        "/a///, /a///",
        "/a//./b//, /a//b//",
        "/a//%62/../c, /a//c",
        "/a/%2e%2e/b//c, /b//c",
        "/a//b?x=//c, /a//b?x=//c",
        "/a//%2f, /a//%2F",
    })
    void slashesAreKept(String path, String kept) {
        assertThat(of(PathForm.SLASHES_KEPT, path)).isEqualTo("[" + kept + "]");
    }

    @ParameterizedTest // a path, then how else servers read it
    @CsvSource({
        "/a//./b, /a//b /a/b /a/./b",
        "/%61/%2e/b, /a/b /a/./b /%61/%2e/b",
        "/a/../b%2f, /b%2F /b%2f /a/../b%2F /a",
        "/a/%2e/../b?x=1, /b?x=1 /a/b?x=1 /a/./../b?x=1 /a/.?x=1",
        "/a/., /a/ /a",
        "/a/%2E?x=/.., /a/?x=/.. /a?x=/.. /a/.?x=/..",
        "/a//b/.., /a// /a/ /a /a/b/.. /a//b /a/b",
        "/a/.., / /a",
        "/a/./, /a/",
        "/%61dmin/x/../../y?q, /y?q /admin/x/../../y?q /admin/x?q",
        "/a/x/%2e%2e/.., /a/x/../.. / /a/x /a/x/",
        "//a/./b?q, //a/b?q /a/b?q /a/./b?q /b?q /./b?q",
        "/x/../%61dmin/%2e%2e/a, /a /%61dmin/%2e%2e/a /admin/../a /admin /x/../admin/../a /x",
        "//a/admin/../y, //a/y /a/y /a/admin/../y //a/admin /a/admin /y /admin/../y /admin",
    })
    void thePathAsItCameHasOtherReadings(String path, String readings) {
        AsciiString written = new AsciiString(path);
        AsciiString normal = Objects.requireNonNull(PathNormalizer.normalize(written));
        List<AsciiString> forms = PathForm.AS_WRITTEN.of(written, normal);
        assertThat((Object) forms.get(0)).isEqualTo(written);
        Set<String> wanted = new TreeSet<>(List.of(readings.split(" ")));
        wanted.add(path);
        assertThat(forms).extracting(AsciiString::toString).containsExactlyInAnyOrderElementsOf(wanted);
    }

    @ParameterizedTest // Node's URL takes what follows two slashes for a host
    @CsvSource({
        "//a, //a /",
        "//a/b?x=/c, //a/b?x=/c /b?x=/c",
        "///a//b, ///a//b //b",
        "//a?x=/c, //a?x=/c /?x=/c",
        "//, // /",
        "/a//b, /a//b"
    })
    void whatFollowsTwoSlashesMayBeAHost(String path, String readings) {
        AsciiString written = new AsciiString(path);
        AsciiString normal = Objects.requireNonNull(PathNormalizer.normalize(written));
        assertThat(PathForm.SLASHES_KEPT.of(written, normal))
                .extracting(AsciiString::toString)
                .containsExactly(readings.split(" "));
    }

    /** A filter has decided about the normal form, and no server may read another path. */
    @ParameterizedTest // a path, then what is forwarded; nothing if it is refused
    @CsvSource({
        "/a/b, [/a/b], [/a/b]",
        "/%61/b%2e?x=//, [/a/b.?x=//], [/%61/b%2e?x=//]",
        "/a%2fb, [/a%2Fb], [/a%2fb]",
        "/a/../b, [/b], []",
        "/a/%2E%2e/b, [/b], []",
        "/a/., [/a/], []",
        "/./a, [/a], []",
        "/a//b, [], []",
        "//a, [], []",
        "/a//, [], []",
        "/a//../b, [], []",
    })
    void whereFiltersDecideNoServerReadsAnotherPath(String path, String slashes, String written) {
        assertThat(first(PathForm.SLASHES_KEPT, path)).isEqualTo(slashes);
        assertThat(first(PathForm.AS_WRITTEN, path)).isEqualTo(written);
        assertThat((Object) PathForm.NORMAL.whereFiltersDecide()).isEqualTo(PathForm.NORMAL);
    }

    private static String first(PathForm wanted, String path) {
        AsciiString written = new AsciiString(path);
        AsciiString normal = Objects.requireNonNull(PathNormalizer.normalize(written));
        return wanted.whereFiltersDecide().of(written, normal).stream()
                .limit(1)
                .toList()
                .toString();
    }

    /** Some servers take the empty segment for what the dots leave, others its parent. */
    @ParameterizedTest
    @CsvSource({"/a//../b", "/a/b//..", "/a/%2e/b//%2e%2e/c"})
    void whatServersResolveDifferentlyHasNoForm(String path) {
        assertThat(of(PathForm.SLASHES_KEPT, path)).isEqualTo("[]");
        assertThat(of(PathForm.AS_WRITTEN, path)).isEqualTo("[]");
    }
}
