package dev.gateway.exchange.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ByteTableTest {
    private static final int HASH = 7;

    private final Map<AsciiString, Integer> entries = new LinkedHashMap<>();

    private ByteTable<Integer> table(String... keys) {
        for (String key : keys) {
            entries.put(new AsciiString(key), entries.size());
        }
        return new ByteTable<>(entries, key -> HASH);
    }

    /** Looks up a text that stands in the middle of others. */
    private static @Nullable Integer get(ByteTable<Integer> table, String text, boolean ignoreCase) {
        byte[] bytes = ("ab" + text + "ab").getBytes(StandardCharsets.US_ASCII);
        return ignoreCase
                ? table.getIgnoringCase(HASH, bytes, 2, text.length())
                : table.get(HASH, bytes, 2, text.length());
    }

    @Test
    void keysOfEqualHashAreToldApart() {
        ByteTable<Integer> table = table("aa", "ab", "ba", "a", "aaa");
        assertThat(get(table, "aa", false)).isEqualTo(0);
        assertThat(get(table, "ab", false)).isEqualTo(1);
        assertThat(get(table, "ba", false)).isEqualTo(2);
        assertThat(get(table, "a", false)).isEqualTo(3);
        assertThat(get(table, "aaa", false)).isEqualTo(4);
    }

    @Test
    void whatOnlyHasTheHashOfAKeyIsNotFound() {
        ByteTable<Integer> table = table("aa", "ab");
        for (String other : List.of("bb", "Aa", "a", "", "aaa", "abab")) {
            assertThat(get(table, other, false)).as(other).isNull();
        }
        for (String other : List.of("bb", "a", "", "aaa", "abab")) {
            assertThat(get(table, other, true)).as(other).isNull();
        }
    }

    @Test
    void keysOfEqualHashAreToldApartInWhateverCaseTheyAreWritten() {
        ByteTable<Integer> table = table("aa", "ab", "abc");
        assertThat(get(table, "AA", true)).isEqualTo(0);
        assertThat(get(table, "aB", true)).isEqualTo(1);
        assertThat(get(table, "ABc", true)).isEqualTo(2);
    }

    @Test
    void aKeyOfAnotherHashIsNotFoundThoughItIsInTheTable() {
        byte[] bytes = {'a', 'a'};
        assertThat(table("aa").get(HASH + 1, bytes, 0, 2)).isNull();
    }

    @Test
    void theLongestKeyIsKnown() {
        assertThat(table("aa", "abcd", "b").maxKeyLength()).isEqualTo(4);
        assertThat(new ByteTable<>(Map.<AsciiString, Integer>of(), key -> HASH).maxKeyLength())
                .isEqualTo(-1);
        assertThat(get(new ByteTable<>(Map.of(), key -> HASH), "aa", false)).isNull();
    }
}
