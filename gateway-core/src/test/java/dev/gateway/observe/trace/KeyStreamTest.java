package dev.gateway.observe.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyStreamTest {
    /** RFC 8439, appendix A.1: the key stream of a key and a nonce that are all zero. */
    @Test
    void theStreamIsThatOfTheRfc() {
        KeyStream stream = new KeyStream(new byte[32], new byte[12]);
        byte[] expected = HexFormat.of()
                .parseHex("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
                        + "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
                        + "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed");
        for (int i = 0; i < expected.length; i += 8) {
            long word = 0;
            for (int b = 7; b >= 0; b--) {
                word = word << 8 | (expected[i + b] & 0xff);
            }
            assertThat(stream.nextLong()).isEqualTo(word);
        }
    }

    @Test
    void noTwoAreAlike() {
        Set<Long> seen = new HashSet<>();
        KeyStream one = new KeyStream();
        KeyStream other = new KeyStream();
        for (int i = 0; i < 1000; i++) {
            assertThat(seen.add(one.nextLong())).isTrue();
            assertThat(seen.add(other.nextLong())).isTrue();
        }
    }
}
