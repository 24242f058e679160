package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class PartDigestTest {
    private static String of(Consumer<PartDigest> parts) {
        PartDigest digest = new PartDigest();
        parts.accept(digest);
        return digest.end();
    }

    @Test
    void theSamePartsHaveTheSameDigestInEveryProcess() {
        String client = of(digest -> digest.of(2, 0xc0000201L));
        assertThat(client).isEqualTo("26e877f0e36658469088bbe96e416e52");
    }

    @Test
    void otherPartsHaveOtherDigests() {
        List<Consumer<PartDigest>> all = List.of(
                digest -> {},
                digest -> digest.of(0, 1),
                digest -> digest.of(1, 1),
                digest -> digest.ofAbsent(0),
                digest -> digest.of(0, "ab"),
                digest -> digest.of(0, digest.of(0, "a") + "b"),
                digest -> digest.of(digest.of(0, "a"), "b"),
                digest -> digest.of(digest.of(0, "ab"), ""),
                digest -> digest.of(digest.of(0, ""), "ab"));
        Set<String> digests = new HashSet<>();
        all.forEach(parts -> digests.add(of(parts)));
        assertThat(digests).hasSize(all.size());
    }

    @Test
    void aTextIsTheSameHoweverItIsHeld() {
        assertThat(of(digest -> digest.of(0, "ann"))).isEqualTo(of(digest -> digest.of(0, new AsciiString("ann"))));
    }

    @Test
    void eachDigestBeginsAnew() {
        PartDigest digest = new PartDigest();
        digest.of(0, "a");
        String first = digest.end();
        digest.of(0, "a");
        assertThat(digest.end()).isEqualTo(first);
    }
}
