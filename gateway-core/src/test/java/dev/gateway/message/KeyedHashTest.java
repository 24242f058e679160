package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyedHashTest {
    private static final long PURPOSE = 0x0706050403020100L;
    private static final AsciiString NAME = new AsciiString("user");
    private static final FieldName FIELD = FieldName.of("X-User");

    private final KeyedHash hash = new KeyedHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);

    /** The bytes 0, 1, 2 and so on, of which the purpose is the first eight; by another program that knows SipHash. */
    @ParameterizedTest
    @CsvSource({
        "0, 369095118d299a8e",
        "1, 25a48eb36c063de4",
        "7, d320d86d2a519956",
        "8, cc4fdd1a7d908b66",
        "9, 9cf2689063dbd80c",
        "55, 9d199062b7bbb3a8",
    })
    void isSipHash(int length, String expected) {
        byte[] bytes = new byte[80];
        for (int i = 0; i < length; i++) {
            bytes[3 + i] = (byte) (8 + i);
        }
        assertThat(Long.toHexString(hash.of(PURPOSE, bytes, 3, length))).isEqualTo(expected);
    }

    @Test
    void aNumberIsItsEightBytes() {
        byte[] bytes = {8, 9, 10, 11, 12, 13, 14, 15};
        assertThat(hash.of(PURPOSE, 0x0f0e0d0c0b0a0908L)).isEqualTo(hash.of(PURPOSE, bytes, 0, 8));
    }

    @Test
    void hasAKeyOfItsOwn() {
        assertThat(KeyedHash.random().of(1, "a"))
                .isNotEqualTo(KeyedHash.random().of(1, "a"));
    }

    @Test
    void tellsRequestsApart() {
        Fields none = Heads.fields();
        Set<Long> hashes = new HashSet<>();
        hashes.add(hash.ofHeader(1, none, FIELD));
        hashes.add(hash.ofHeader(1, Heads.fields("X-User:"), FIELD));
        hashes.add(hash.ofHeader(1, Heads.fields("X-User: a"), FIELD));
        hashes.add(hash.ofHeader(2, Heads.fields("X-User: a"), FIELD));
        hashes.add(hash.ofHeader(1, Heads.fields("X-User: a", "x-user: b"), FIELD));
        hashes.add(hash.ofHeader(1, Heads.fields("X-User: ab"), FIELD));
        hashes.add(hash.of(1, "\u0161"));
        hashes.add(hash.of(1, "a"));
        hashes.add(hash.of(1, ""));
        assertThat(hashes).hasSize(9);
    }

    @Test
    void cookiesAndQueryParametersAreWhatTheirNamesSay() {
        long a = hash.ofHeader(1, Heads.fields("X-User: a"), FIELD);
        assertThat(hash.ofCookie(1, Heads.fields("Cookie: xuser=b; user=a", "Cookie: user=c"), NAME))
                .isEqualTo(a);
        assertThat(hash.ofQueryParameter(1, Heads.get("h", "/user=b?x=1&user=a&user=c"), NAME))
                .isEqualTo(a);
        assertThat(hash.ofCookie(1, Heads.fields("Cookie: users=a"), NAME)).isEqualTo(hash.ofAbsent(1));
        assertThat(hash.ofQueryParameter(1, Heads.get("h", "/user=a"), NAME)).isEqualTo(hash.ofAbsent(1));
    }
}
