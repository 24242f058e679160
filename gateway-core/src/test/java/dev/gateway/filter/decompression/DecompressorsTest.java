package dev.gateway.filter.decompression;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.coding.ContentCoding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What decompressors are charged for, and what the documentation says of it. */
class DecompressorsTest {
    private static final int KIB = 1024;

    private static String documentation() throws IOException {
        return Files.readString(Path.of("../docs/bodies.md")).replaceAll("\\s+", " ");
    }

    /** RFC 7932, section 2: literals, insert-and-copy lengths, distances. The library allocates for all that a body declares. */
    @Test
    void theMostPrefixCodesOfBrotliAreCharged() {
        int codes = 0;
        for (int alphabet : new int[] {256, 704, 16 + 120 + (24 << 4)}) {
            codes += 256 * (4 * (alphabet + 376) + Long.BYTES);
        }
        assertThat(Decompressors.bytes(ContentCoding.BR)).isBetween((long) codes, codes + 128L * KIB);
    }

    @Test
    void theDocumentationSaysWhatDecompressorsTake() throws IOException {
        assertThat(Decompressors.bytes(ContentCoding.GZIP)).isEqualTo(44 * KIB);
        assertThat(Decompressors.bytes(ContentCoding.DEFLATE)).isEqualTo(44 * KIB);
        assertThat(Decompressors.bytes(ContentCoding.ZSTD)).isEqualTo(112 * KIB);
        assertThat(Decompressors.bytes(ContentCoding.BR)).isEqualTo(2688 * KIB);
        assertThat(documentation())
                .contains("44 KiB with `gzip` and `deflate`, 112 KiB with `zstd`, and 2,688 KiB with `br`");
    }
}
