package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestIdsTest {
    private final RequestIds ids = new RequestIds(1, 0);

    @ParameterizedTest
    @ValueSource(strings = {"a", "6f1ed002-ab59-5f95-8ff1-bd7a0b6e2f58", "Root=1-5759e988:x_y~z/a+b@c.d"})
    void anIdTheClientSentIsKeptIfWanted(String id) {
        Fields fields = Heads.fields("X-Request-Id: " + id);

        assertThatObject(ids.assign(fields, true)).isEqualTo(new AsciiString(id));
        assertThat(fields).hasToString("X-Request-Id: " + id + "\n");
        assertThatObject(ids.assign(fields, false)).isNotEqualTo(new AsciiString(id));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a\"b", "{a}", "<script>", "a,b", "é", "a;b", "'"})
    void anIdThatCouldDoHarmInALogIsReplaced(String id) {
        Fields fields = Heads.fields("X-Request-Id: " + id);

        assertThat(ids.assign(fields, true).toString()).matches("[0-9a-f]{32}");
        assertThat(fields.size()).isEqualTo(1);
    }

    @Test
    void anIdThatIsTooLongOrRepeatedIsReplaced() {
        assertThat(ids.assign(Heads.fields("X-Request-Id: " + "a".repeat(128)), true)
                        .length())
                .isEqualTo(128);
        assertThat(ids.assign(Heads.fields("X-Request-Id: " + "a".repeat(129)), true)
                        .length())
                .isEqualTo(32);
        Fields two = Heads.fields("X-Request-Id: a", "X-Request-Id: b");
        AsciiString id = ids.assign(two, true);
        assertThat(two).hasToString("X-Request-Id: " + id + "\n");
    }

    @Test
    void newIdsAreDistinctAndWellSpread() {
        Set<AsciiString> seen = new HashSet<>();
        int[] ones = new int[128];
        for (int i = 0; i < 10_000; i++) {
            AsciiString id = ids.next();
            assertThat(seen.add(id)).isTrue();
            for (int bit = 0; bit < 128; bit++) {
                ones[bit] += Character.digit(id.charAt(bit / 4), 16) >> (bit % 4) & 1;
            }
        }
        assertThat(Arrays.stream(ones).allMatch(n -> n > 4_700 && n < 5_300)).isTrue();
        assertThatObject(new RequestIds().next()).isNotEqualTo(new RequestIds().next());
    }
}
