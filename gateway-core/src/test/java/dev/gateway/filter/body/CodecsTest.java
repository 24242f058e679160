package dev.gateway.filter.body;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What codecs are charged for, and what the documentation says of it. */
class CodecsTest {
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
        assertThat(Codecs.decompressorBytes(ContentCoding.BR)).isBetween((long) codes, codes + 128L * KIB);
    }

    @Test
    void theDocumentationSaysWhatCompressorsTake() throws IOException {
        for (int level = 1; level <= 9; level++) {
            assertThat(Codecs.compressorBytes(ContentCoding.GZIP, level)).isEqualTo(272 * KIB);
            assertThat(Codecs.compressorBytes(ContentCoding.DEFLATE, level)).isEqualTo(272 * KIB);
            assertThat(Codecs.compressorBytes(ContentCoding.ZSTD, level)).isEqualTo(1152 * KIB);
            int kib = level == 1 ? 128 : level <= 3 ? 896 : level <= 8 ? 1792 : 2560;
            assertThat(Codecs.compressorBytes(ContentCoding.BR, level)).isEqualTo(kib * 1024L);
        }
        assertThat(documentation())
                .contains("272 KiB with `gzip` and `deflate`, and 1,152 KiB with `zstd`")
                .contains(
                        "With `br` it takes 128 KiB at level 1, 896 KiB up to level 3, 1.75 MiB up to level 8, and 2.5 MiB at level 9");
    }

    @Test
    void theDocumentationSaysWhatDecompressorsTake() throws IOException {
        assertThat(Codecs.decompressorBytes(ContentCoding.GZIP)).isEqualTo(44 * KIB);
        assertThat(Codecs.decompressorBytes(ContentCoding.DEFLATE)).isEqualTo(44 * KIB);
        assertThat(Codecs.decompressorBytes(ContentCoding.ZSTD)).isEqualTo(112 * KIB);
        assertThat(Codecs.decompressorBytes(ContentCoding.BR)).isEqualTo(2688 * KIB);
        assertThat(documentation())
                .contains("44 KiB with `gzip` and `deflate`, 112 KiB with `zstd`, and 2,688 KiB with `br`");
    }
}
