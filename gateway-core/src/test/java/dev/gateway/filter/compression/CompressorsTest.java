package dev.gateway.filter.compression;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.coding.ContentCoding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What compressors are charged for, and what the documentation says of it. */
class CompressorsTest {
    private static final int KIB = 1024;

    private static String documentation() throws IOException {
        return Files.readString(Path.of("../docs/bodies.md")).replaceAll("\\s+", " ");
    }

    @Test
    void theDocumentationSaysWhatCompressorsTake() throws IOException {
        for (int level = 1; level <= 9; level++) {
            assertThat(Compressors.bytes(ContentCoding.GZIP, level)).isEqualTo(272 * KIB);
            assertThat(Compressors.bytes(ContentCoding.DEFLATE, level)).isEqualTo(272 * KIB);
            assertThat(Compressors.bytes(ContentCoding.ZSTD, level)).isEqualTo(1152 * KIB);
            int kib = level == 1 ? 128 : level <= 3 ? 896 : level <= 8 ? 1792 : 2560;
            assertThat(Compressors.bytes(ContentCoding.BR, level)).isEqualTo(kib * 1024L);
        }
        assertThat(documentation())
                .contains("272 KiB with `gzip` and `deflate`, and 1,152 KiB with `zstd`")
                .contains(
                        "With `br` it takes 128 KiB at level 1, 896 KiB up to level 3, 1.75 MiB up to level 8, and 2.5 MiB at level 9");
    }
}
