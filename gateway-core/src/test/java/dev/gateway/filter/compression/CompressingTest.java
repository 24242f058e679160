package dev.gateway.filter.compression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdInputStream;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.coding.CodecLibraries;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.Pieces;
import dev.gateway.testing.BrotliBytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the readers of the JDK and of other libraries make of what is compressed. */
class CompressingTest {
    private final CompressedBytes count = new CompressedBytes();

    @BeforeAll
    static void loadLibraries() {
        assertThat(ContentCoding.values())
                .allSatisfy(coding -> assertThat(CodecLibraries.load(coding)).isNull());
    }

    private Pieces compress(ContentCoding coding) {
        return new Pieces(new Compressing(coding, 6, count));
    }

    private static byte[] read(ContentCoding coding, byte[] compressed) throws IOException {
        try (InputStream out = reader(coding, compressed)) {
            return out.readAllBytes();
        }
    }

    private static InputStream reader(ContentCoding coding, byte[] compressed) throws IOException {
        ByteArrayInputStream in = new ByteArrayInputStream(compressed);
        return switch (coding) {
            case GZIP -> new GZIPInputStream(in);
            case DEFLATE -> new InflaterInputStream(in);
            case BR -> BrotliBytes.read(compressed);
            case ZSTD -> new ZstdInputStream(in);
        };
    }

    private static byte[] text(int length) {
        StringBuilder text = new StringBuilder();
        Random random = new Random(length);
        while (text.length() < length) {
            text.append("line ").append(random.nextInt(1000)).append(" of a text\n");
        }
        return Arrays.copyOf(text.toString().getBytes(StandardCharsets.UTF_8), length);
    }

    private static byte[] noise(int length) {
        byte[] noise = new byte[length];
        new Random(length).nextBytes(noise);
        return noise;
    }

    @ParameterizedTest
    @EnumSource
    void aShortBodyIsOnePiece(ContentCoding coding) throws IOException {
        byte[] body = text(300);
        try (Pieces pieces = compress(coding)) {
            pieces.give(body, Input.ENDS);
            assertThat(pieces.ended).isTrue();
            assertThat(pieces.sizes).hasSize(1);
            assertThat(read(coding, pieces.made.toByteArray())).isEqualTo(body);
            assertThat(count.input()).isEqualTo(300);
            assertThat(count.output()).isEqualTo(pieces.made.size());
        }
    }

    @ParameterizedTest
    @EnumSource
    void anEmptyBodyIsValid(ContentCoding coding) throws IOException {
        try (Pieces pieces = compress(coding).end()) {
            assertThat(read(coding, pieces.made.toByteArray())).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void itComesOutAsItWentInWhereverItIsCut(ContentCoding coding) throws IOException {
        byte[] body = text(200);
        for (int cut = 0; cut <= body.length; cut++) {
            try (Pieces pieces = compress(coding)) {
                pieces.give(body, 0, cut, Input.CONTINUES);
                pieces.give(body, cut, body.length - cut, Input.ENDS);
                assertThat(read(coding, pieces.made.toByteArray())).isEqualTo(body);
            }
        }
    }

    static List<Arguments> lengths(int... lengths) {
        return Stream.of(ContentCoding.values())
                .flatMap(coding -> IntStream.of(lengths).mapToObj(length -> Arguments.of(coding, length)))
                .toList();
    }

    static List<Arguments> bodies() {
        return lengths(1, 7, 1000, 16_383, 16_384, 16_385, 100_000, 1_000_000);
    }

    @ParameterizedTest
    @MethodSource("bodies")
    void noPieceIsLargeAndNothingIsLost(ContentCoding coding, int length) throws IOException {
        for (byte[] body : new byte[][] {text(length), noise(length), new byte[length]}) {
            try (Pieces pieces = compress(coding)) {
                for (int at = 0; at < length; at += 60_000) {
                    pieces.give(body, at, Math.min(60_000, length - at), Input.CONTINUES);
                }
                pieces.end();
                assertThat(pieces.sizes).allMatch(size -> size <= 16 * 1024);
                assertThat(read(coding, pieces.made.toByteArray())).isEqualTo(body);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsPassedOnForSoLittleUntilThereIsAPause(ContentCoding coding) {
        try (Pieces pieces = compress(coding)) {
            assertThat(pieces.give(text(100), Input.CONTINUES)).isZero();
            assertThat(pieces.pause()).isPositive();
            assertThat(pieces.pause()).as("nothing has come since").isZero();
            pieces.end();
        }
    }

    static List<Arguments> parts() {
        return lengths(1, 100, 5000, 16_360, 16_368, 16_384, 60_000, 300_000);
    }

    /** A reader has all that came before the pause, whatever follows. */
    @ParameterizedTest
    @MethodSource("parts")
    void aPauseDeliversAllThatHasCome(ContentCoding coding, int length) throws IOException {
        for (byte[] part : new byte[][] {text(length), noise(length)}) {
            try (Pieces pieces = compress(coding)) {
                for (int i = 1; i <= 3; i++) {
                    pieces.give(part, Input.PAUSES);
                    try (InputStream in = reader(coding, pieces.made.toByteArray())) {
                        assertThat(in.readNBytes(i * length))
                                .hasSize(i * length)
                                .endsWith(part);
                    }
                }
                pieces.end();
                assertThat(read(coding, pieces.made.toByteArray())).hasSize(3 * length);
            }
        }
    }

    static List<Arguments> levelsAndLengths() {
        return IntStream.rangeClosed(1, 9)
                .boxed()
                .flatMap(level -> Stream.of(
                        Arguments.of(level, 131_000, 1000),
                        Arguments.of(level, 130_999, 74),
                        Arguments.of(level, 1, 131_073),
                        Arguments.of(level, 65_535, 3),
                        Arguments.of(level, 262_139, 70_001)))
                .toList();
    }

    /** At a pause, the encoder of Brotli may have output of a full block, and then has not flushed what follows. */
    @ParameterizedTest
    @MethodSource("levelsAndLengths")
    void aPauseDeliversWhatFollowsAFullBlockToo(int level, int before, int after) throws IOException {
        byte[] body = text(before + after);
        try (Pieces pieces = new Pieces(new Compressing(ContentCoding.BR, level, count))) {
            pieces.give(body, 0, before, Input.CONTINUES);
            pieces.give(body, before, after, Input.PAUSES);
            byte[] soFar = read(ContentCoding.BR, pieces.made.toByteArray());
            assertThat(soFar).hasSameSizeAs(body);
            assertThat(Arrays.mismatch(soFar, body)).isNegative();
            assertThat(pieces.pause()).as("nothing has come since").isZero();
            pieces.end();
            assertThat(read(ContentCoding.BR, pieces.made.toByteArray())).hasSameSizeAs(body);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theLevelDecides(ContentCoding coding) {
        byte[] body = text(100_000);
        int[] sizes = new int[2];
        for (int i = 0; i < 2; i++) {
            try (Pieces pieces = new Pieces(new Compressing(coding, i == 0 ? 1 : 9, count))) {
                pieces.give(body, Input.ENDS);
                sizes[i] = pieces.made.size();
            }
        }
        assertThat(sizes[1]).isLessThan(sizes[0]);
    }

    @ParameterizedTest
    @CsvSource({"GZIP, 4", "DEFLATE, 4", "ZSTD, 2"})
    void aFewCompressorsAreKeptAndUsedAgain(ContentCoding coding, int most) throws IOException {
        IdleCompressors<?> loop = coding == ContentCoding.ZSTD ? ZstdCompressor.ofThisLoop() : Deflaters.ofThisLoop();
        Pieces[] all = new Pieces[6];
        for (int i = 0; i < all.length; i++) {
            all[i] = compress(coding);
            all[i].give(text(100), Input.PAUSES);
        }
        int before = loop.kept();
        for (Pieces pieces : all) {
            pieces.close(); // in the middle
        }
        assertThat(loop.kept()).isEqualTo(most).isGreaterThanOrEqualTo(before);
        for (int i = 0; i < 6; i++) {
            try (Pieces pieces = compress(coding)) {
                byte[] body = text(300 + i);
                pieces.give(body, Input.ENDS);
                assertThat(loop.kept()).isEqualTo(most - 1);
                assertThat(read(coding, pieces.made.toByteArray())).isEqualTo(body);
            }
        }
        assertThat(loop.kept()).isEqualTo(most);
    }

    @Test
    void aContextOfZstdIsUsedAgainAtAnyLevel() throws IOException {
        ZstdCompressCtx context = ZstdCompressor.ofThisLoop().take(0);
        ZstdCompressor.ofThisLoop().giveBack(context, 0);
        byte[] body = text(200_000);
        int[] sizes = new int[10];
        for (int level = 9; level >= 1; level--) {
            int before = ZstdCompressor.ofThisLoop().kept();
            try (Pieces pieces = new Pieces(new Compressing(ContentCoding.ZSTD, level, count))) {
                pieces.give(body, Input.ENDS);
                assertThat(ZstdCompressor.ofThisLoop().kept()).isEqualTo(before - 1);
                sizes[level] = pieces.made.size();
                assertThat(read(ContentCoding.ZSTD, pieces.made.toByteArray())).isEqualTo(body);
            }
        }
        assertThat(sizes[9]).isLessThan(sizes[1]);
    }

    @Test
    void aBodyOfWhichNothingCameTakesNoCompressor() {
        int before = Deflaters.ofThisLoop().kept();
        try (Pieces pieces = compress(ContentCoding.GZIP)) {
            pieces.pause();
            assertThat(Deflaters.ofThisLoop().kept()).isEqualTo(before);
        }
        assertThat(Deflaters.ofThisLoop().kept()).isEqualTo(before);
    }

    /** As after a reload with another level. */
    @Test
    void compressorsOfALevelThatNobodyUsesMakeRoomForOthers() {
        IdleCompressors<Deflater> loop = Deflaters.ofThisLoop();
        Deflater[] old = new Deflater[4];
        for (int i = 0; i < old.length; i++) {
            old[i] = loop.take(6);
        }
        for (Deflater each : old) {
            loop.giveBack(each, 6);
        }
        Deflater other = loop.take(1);
        loop.giveBack(other, 1);
        assertThat(loop.kept()).isLessThanOrEqualTo(4);
        Deflater again = loop.take(1);
        assertThat(again).isSameAs(other);
        loop.giveBack(again, 1);
    }

    /** As they come from the JDK's TLS, or from several reads. */
    @ParameterizedTest
    @EnumSource
    void bytesMayBeInAnyKindOfMemory(ContentCoding coding) throws IOException {
        byte[] body = text(50_000);
        for (boolean composite : new boolean[] {false, true}) {
            try (Pieces pieces = compress(coding)) {
                ByteBuf heap = ByteBufAllocator.DEFAULT.heapBuffer().writeBytes(body);
                ByteBuf in = composite
                        ? heap.alloc().compositeBuffer().addComponents(true, heap, heap.retainedDuplicate())
                        : heap;
                pieces.give(in, Input.ENDS);
                byte[] read = read(coding, pieces.made.toByteArray());
                assertThat(read)
                        .hasSize(composite ? 100_000 : 50_000)
                        .startsWith(body)
                        .endsWith(body);
            }
        }
    }

    /** A compressor that was given back in the middle of a body must not know anything of it. */
    @ParameterizedTest
    @EnumSource
    void nothingOfABodyThatWasBrokenOffComesInTheNext(ContentCoding coding) throws IOException {
        for (Input last : Input.values()) {
            try (Pieces broken = compress(coding)) {
                broken.give(noise(100_000), last);
            }
            try (Pieces next = compress(coding)) {
                next.give(text(5000), Input.ENDS);
                assertThat(read(coding, next.made.toByteArray())).isEqualTo(text(5000));
            }
        }
    }

    /** Native memory that is released twice would be released under another body. */
    @Test
    void aClosedCompressorCompressesNothing() {
        BrotliCompressor compressor = new BrotliCompressor(4);
        compressor.close();
        ByteBuf out = ByteBufAllocator.DEFAULT.directBuffer(512, 512);
        assertThatThrownBy(() -> compressor.compress(Unpooled.EMPTY_BUFFER, out, Input.ENDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("destroyed");
        out.release();
    }
}
