package dev.gateway.filter.decompression;

import static org.assertj.core.api.Assertions.assertThat;

import com.aayushatharva.brotli4j.encoder.BrotliOutputStream;
import com.aayushatharva.brotli4j.encoder.Encoder;
import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStream;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.coding.CodecLibraries;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.coding.Pieces;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is decompressed of what the JDK and other libraries have compressed, and what is refused. */
class DecompressingTest {
    private static final long PLENTY = 1L << 40;

    private final List<Long> held = new ArrayList<>();

    @BeforeAll
    static void loadLibraries() {
        assertThat(ContentCoding.values())
                .allSatisfy(coding -> assertThat(CodecLibraries.load(coding)).isNull());
    }

    private static Pieces decompress(ContentCoding coding) {
        return decompress(coding, PLENTY, PLENTY);
    }

    private static Pieces decompress(ContentCoding coding, long maxBytes, long maxRatio) {
        return new Pieces(new Decompressing(coding, maxBytes, maxRatio, new DecompressionMemory(bytes -> true)));
    }

    private static byte[] compressed(ContentCoding coding, byte[] body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = writer(coding, bytes)) {
            out.write(body);
        }
        return bytes.toByteArray();
    }

    private static OutputStream writer(ContentCoding coding, OutputStream bytes) throws IOException {
        return switch (coding) {
            case GZIP -> new GZIPOutputStream(bytes);
            case DEFLATE -> new DeflaterOutputStream(bytes);
            case BR -> new BrotliOutputStream(bytes, new Encoder.Parameters().setWindow(18));
            case ZSTD -> new ZstdOutputStream(bytes).setChecksum(true);
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

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    private static Failure refused(ContentCoding coding, byte[] body) {
        try (Pieces pieces = decompress(coding)) {
            pieces.give(body, Input.ENDS);
            return Objects.requireNonNull(pieces.failure, "it was not refused");
        }
    }

    @ParameterizedTest
    @EnumSource
    void itComesOutAsItWentInWhereverItIsCut(ContentCoding coding) throws IOException {
        byte[] body = text(200);
        byte[] sent = compressed(coding, body);
        for (int cut = 0; cut <= sent.length; cut++) {
            try (Pieces pieces = decompress(coding)) {
                pieces.give(sent, 0, cut, Input.PAUSES);
                pieces.give(sent, cut, sent.length - cut, Input.ENDS);
                assertThat(pieces.failure).isNull();
                assertThat(pieces.made.toByteArray()).isEqualTo(body);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void itMayComeByteByByte(ContentCoding coding) throws IOException {
        byte[] body = text(5000);
        byte[] sent = compressed(coding, body);
        try (Pieces pieces = decompress(coding)) {
            for (int i = 0; i < sent.length; i++) {
                pieces.give(sent, i, 1, Input.CONTINUES);
            }
            pieces.end();
            assertThat(pieces.failure).isNull();
            assertThat(pieces.made.toByteArray()).isEqualTo(body);
        }
    }

    static List<Arguments> bodies() {
        return Stream.of(ContentCoding.values())
                .flatMap(coding -> IntStream.of(0, 1, 255, 256, 257, 16_383, 16_384, 16_385, 1_000_000)
                        .mapToObj(length -> Arguments.of(coding, length)))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("bodies")
    void noPieceIsLargeAndNothingIsLost(ContentCoding coding, int length) throws IOException {
        byte[] noise = new byte[length];
        new Random(length).nextBytes(noise);
        for (byte[] body : new byte[][] {text(length), noise, new byte[length]}) {
            try (Pieces pieces = decompress(coding)) {
                pieces.give(compressed(coding, body), Input.ENDS);
                assertThat(pieces.failure).isNull();
                assertThat(pieces.sizes).allMatch(size -> size <= 16 * 1024);
                assertThat(pieces.made.toByteArray()).isEqualTo(body);
            }
        }
    }

    /** RFC 1952, section 2.2; RFC 8878, section 3. */
    @ParameterizedTest
    @EnumSource(names = {"GZIP", "ZSTD"})
    void severalMembersAreOneBody(ContentCoding coding) throws IOException {
        byte[] one = compressed(coding, text(100));
        byte[] none = compressed(coding, new byte[0]);
        byte[] two = compressed(coding, text(300));
        byte[] sent = concat(one, none, two);
        for (int cut = 0; cut <= sent.length; cut++) {
            try (Pieces pieces = decompress(coding)) {
                pieces.give(sent, 0, cut, Input.CONTINUES);
                pieces.give(sent, cut, sent.length - cut, Input.ENDS);
                assertThat(pieces.failure).isNull();
                assertThat(pieces.made.toByteArray()).isEqualTo(concat(text(100), text(300)));
            }
        }
    }

    /** RFC 1952, section 2.3: an extra field, a name, a comment and a checksum of the header. */
    @Test
    void aHeaderMayHaveManyParts() throws IOException {
        byte[] plain = compressed(ContentCoding.GZIP, text(100));
        byte[] rest = Arrays.copyOfRange(plain, 10, plain.length);
        for (int flags = 0; flags < 0x20; flags++) {
            ByteArrayOutputStream sent = new ByteArrayOutputStream();
            sent.writeBytes(new byte[] {0x1f, (byte) 0x8b, 8, (byte) flags, 1, 2, 3, 4, 0, 3});
            if ((flags & 4) != 0) {
                sent.writeBytes(new byte[] {3, 0, 'a', 0, 'c'});
            }
            if ((flags & 8) != 0) {
                sent.writeBytes("name\0".getBytes(StandardCharsets.ISO_8859_1));
            }
            if ((flags & 16) != 0) {
                sent.writeBytes("\0".getBytes(StandardCharsets.ISO_8859_1));
            }
            if ((flags & 2) != 0) {
                CRC32 crc = new CRC32();
                crc.update(sent.toByteArray());
                sent.write((int) crc.getValue());
                sent.write((int) crc.getValue() >> 8);
            }
            sent.writeBytes(rest);
            byte[] all = sent.toByteArray();
            for (int cut = 0; cut < 30; cut++) {
                try (Pieces pieces = decompress(ContentCoding.GZIP)) {
                    pieces.give(all, 0, cut, Input.CONTINUES);
                    pieces.give(all, cut, all.length - cut, Input.ENDS);
                    assertThat(pieces.failure).as("flags %d", flags).isNull();
                    assertThat(pieces.made.toByteArray()).isEqualTo(text(100));
                }
            }
        }
    }

    @Test
    void anEmptyExtraFieldIsOne() throws IOException {
        byte[] plain = compressed(ContentCoding.GZIP, text(100));
        byte[] sent = concat(
                new byte[] {0x1f, (byte) 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 0, 0},
                Arrays.copyOfRange(plain, 10, plain.length));
        try (Pieces pieces = decompress(ContentCoding.GZIP)) {
            pieces.give(sent, Input.ENDS);
            assertThat(pieces.made.toByteArray()).isEqualTo(text(100));
        }
    }

    @ParameterizedTest
    @EnumSource
    void anEmptyBodyIsTakenAsItIs(ContentCoding coding) {
        try (Pieces pieces = decompress(coding).end()) {
            assertThat(pieces.failure).isNull();
            assertThat(pieces.made.size()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatEndsTooEarlyIsRefused(ContentCoding coding) throws IOException {
        byte[] sent = compressed(coding, text(200));
        for (int length = 1; length < sent.length; length++) {
            Failure failure = refused(coding, Arrays.copyOf(sent, length));
            assertThat(failure.cause()).isEqualTo(Cause.CLIENT_PROTOCOL_ERROR);
            assertThat(failure.detail()).contains("it ends too early");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"GZIP", "DEFLATE", "ZSTD"})
    void aChangedChecksumIsRefused(ContentCoding coding) throws IOException {
        byte[] sent = compressed(coding, text(200));
        int trailer = coding == ContentCoding.GZIP ? 8 : 4;
        for (int i = sent.length - trailer; i < sent.length; i++) {
            byte[] changed = sent.clone();
            changed[i] ^= 1;
            assertThat(refused(coding, changed).detail()).contains("checksum");
        }
    }

    /** Each byte of the header and the data: nothing but the truth, or a refusal. */
    @ParameterizedTest
    @EnumSource(names = {"GZIP", "DEFLATE", "ZSTD"})
    void noChangedByteGoesUnnoticed(ContentCoding coding) throws IOException {
        byte[] body = text(200);
        byte[] sent = compressed(coding, body);
        for (int i = 0; i < sent.length; i++) {
            byte[] changed = sent.clone();
            changed[i] ^= 0x55;
            try (Pieces pieces = decompress(coding)) {
                pieces.give(changed, Input.ENDS);
                if (pieces.failure == null) { // such as a changed time in gzip's header
                    assertThat(pieces.made.toByteArray()).isEqualTo(body);
                } else {
                    assertThat(pieces.failure.status()).isEqualTo(400);
                }
            }
        }
    }

    @Test
    void whatFollowsTheEndIsRefused() throws IOException {
        byte[] one = compressed(ContentCoding.GZIP, text(100));
        assertThat(refused(ContentCoding.GZIP, concat(one, new byte[] {0})).detail())
                .contains("a header is wrong");
        byte[] other = compressed(ContentCoding.DEFLATE, text(100));
        assertThat(refused(ContentCoding.DEFLATE, concat(other, new byte[] {0})).detail())
                .contains("bytes follow its end");
        assertThat(refused(ContentCoding.DEFLATE, concat(other, other)).detail())
                .contains("bytes follow its end");
        byte[] brotli = compressed(ContentCoding.BR, text(100));
        assertThat(refused(ContentCoding.BR, concat(brotli, new byte[] {0})).detail())
                .contains("bytes follow its end");
        assertThat(refused(ContentCoding.BR, concat(brotli, brotli)).detail()).contains("bytes follow its end");
        byte[] zstd = compressed(ContentCoding.ZSTD, text(100));
        assertThat(refused(ContentCoding.ZSTD, concat(zstd, new byte[] {0})).detail())
                .contains("it ends too early"); // it might be a frame
        assertThat(refused(ContentCoding.ZSTD, concat(zstd, new byte[4])).detail())
                .contains("a header is wrong");
    }

    @Test
    void whatIsNotCompressedIsRefused() {
        assertThat(refused(ContentCoding.GZIP, text(100)).detail()).contains("a header is wrong");
        assertThat(refused(ContentCoding.DEFLATE, text(100)).detail()).contains("the header is wrong");
        assertThat(refused(ContentCoding.ZSTD, text(100)).detail()).contains("a header is wrong");
        assertThat(refused(ContentCoding.BR, text(100)).detail()).contains("not valid br");
        assertThat(refused(ContentCoding.BR, new byte[] {0x11, 1, 2, 3}).detail())
                .contains("its data are wrong");
    }

    @Test
    void aDictionaryIsRefused() {
        Deflater deflater = new Deflater();
        try {
            deflater.setDictionary(text(50));
            deflater.setInput(text(100));
            deflater.finish();
            byte[] out = new byte[500];
            int length = deflater.deflate(out);
            assertThat(refused(ContentCoding.DEFLATE, Arrays.copyOf(out, length))
                            .detail())
                    .contains("the header is wrong");
        } finally {
            deflater.end();
        }
    }

    static List<Arguments> limits() {
        return Stream.of(ContentCoding.values())
                .flatMap(coding -> Stream.of(Arguments.of(coding, 99_999), Arguments.of(coding, 100_000)))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void aBodyMayBecomeSoLargeAndNoLarger(ContentCoding coding, int most) throws IOException {
        byte[] sent = compressed(coding, text(100_000));
        try (Pieces pieces = decompress(coding, most, PLENTY)) {
            pieces.give(sent, Input.ENDS);
            assertThat(pieces.made.size()).isLessThanOrEqualTo(most);
            if (most == 100_000) {
                assertThat(pieces.failure).isNull();
            } else {
                assertThat(Objects.requireNonNull(pieces.failure).cause()).isEqualTo(Cause.BODY_TOO_LARGE);
                assertThat(pieces.failure.detail())
                        .isEqualTo("a body of more than 99999 bytes, decompressed (Decompression)");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBombIsStoppedByItsRatio(ContentCoding coding) throws IOException {
        byte[] sent = compressed(coding, new byte[50_000_000]);
        try (Pieces pieces = decompress(coding, PLENTY, 100)) {
            pieces.give(sent, Input.ENDS);
            Failure failure = Objects.requireNonNull(pieces.failure);
            assertThat(failure.status()).isEqualTo(413);
            assertThat(failure.detail()).contains("more than 100 times its size");
            // The decoder of Brotli has read this whole body, of some 1,200 bytes, by then.
            int most = Math.max(Decompressing.FREE, coding == ContentCoding.BR ? 100 * sent.length : 0);
            assertThat(pieces.made.size()).isBetween(Decompressing.FREE - 16 * 1024, most + 16 * 1024);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aShortBodyMayGrowByAnyFactor(ContentCoding coding) throws IOException {
        byte[] sent = compressed(coding, new byte[Decompressing.FREE]);
        try (Pieces pieces = decompress(coding, PLENTY, 2)) {
            pieces.give(sent, Input.ENDS);
            assertThat(pieces.failure).isNull();
            assertThat(pieces.made.size()).isEqualTo(Decompressing.FREE);
        }
    }

    @Test
    void aFewDecompressorsAreKeptAndUsedAgain() throws IOException {
        Inflaters loop = Inflaters.ofThisLoop();
        Pieces[] all = new Pieces[20];
        byte[] sent = compressed(ContentCoding.GZIP, text(1000));
        for (int i = 0; i < all.length; i++) {
            all[i] = decompress(ContentCoding.GZIP);
            all[i].give(sent, 0, 50, Input.CONTINUES);
        }
        for (Pieces pieces : all) {
            pieces.close(); // in the middle
        }
        assertThat(loop.kept()).isEqualTo(16);
        try (Pieces pieces = decompress(ContentCoding.GZIP)) {
            pieces.give(sent, Input.ENDS);
            assertThat(loop.kept()).isEqualTo(15);
            assertThat(pieces.made.toByteArray()).isEqualTo(text(1000));
        }
        assertThat(loop.kept()).isEqualTo(16);
    }

    // ---- zstd

    private static byte[] frame(String header, byte[] rest) {
        return concat(HexFormat.of().parseHex("28b52ffd" + header), rest);
    }

    /** RFC 8878, section 3.1.2: there are 16 kinds. */
    @Test
    void framesThatAreToBeSkippedAreSkipped() throws IOException {
        byte[] frame = compressed(ContentCoding.ZSTD, text(300));
        for (int kind = 0x50; kind < 0x60; kind++) {
            byte[] skipped = concat(new byte[] {(byte) kind, 0x2a, 0x4d, 0x18, 5, 0, 0, 0}, text(5));
            byte[] empty = {(byte) kind, 0x2a, 0x4d, 0x18, 0, 0, 0, 0};
            byte[] sent = concat(skipped, empty, frame, empty, skipped);
            for (int cut = 0; cut <= sent.length; cut++) {
                try (Pieces pieces = decompress(ContentCoding.ZSTD)) {
                    pieces.give(sent, 0, cut, Input.CONTINUES);
                    pieces.give(sent, cut, sent.length - cut, Input.ENDS);
                    assertThat(pieces.failure).isNull();
                    assertThat(pieces.made.toByteArray()).isEqualTo(text(300));
                }
            }
            for (int length = 1; length < skipped.length; length++) {
                assertThat(refused(ContentCoding.ZSTD, Arrays.copyOf(skipped, length))
                                .detail())
                        .contains("it ends too early");
            }
        }
    }

    /** RFC 9659: 8 MB at most. Each window is in its own kind of header. */
    @ParameterizedTest
    @CsvSource({
        "0068, 8388608", // 2^23
        "0069, 9437184", // and an eighth
        "0070, 16777216",
        "00f8, 2199023255552", // 2^41
        "00ff, 4123168604160",
        "a000008000, 8388608", // a single segment
        "a001008000, 8388609",
        "e00000000001000000, 4294967296",
        "e0ffffffffffffffff, -1",
        "2000, 0",
        "60ff00, 511"
    })
    void aWindowOfMoreThan8MbIsRefused(String header, long window) {
        ZstdHeader read = new ZstdHeader();
        ByteBuf bytes = Buffers.of(frame(header, new byte[0]));
        assertThat(read.read(bytes)).isTrue();
        assertThat(bytes.isReadable()).isFalse();
        bytes.release();
        assertThat(read.window()).isEqualTo(window);
        if (window >= 0 && window <= 8 << 20) {
            assertThat(read.problem()).isNull();
        } else {
            assertThat(refused(ContentCoding.ZSTD, frame(header, new byte[10])).detail())
                    .contains("it needs a window of more than 8 MiB");
        }
    }

    @Test
    void aFrameThatNeedsADictionaryIsRefused() {
        for (String header : List.of("015001", "02500100", "035000000001", "2101ff", "23000000ff01")) {
            Failure failure = refused(ContentCoding.ZSTD, frame(header, new byte[10]));
            assertThat(failure.detail()).contains("it needs a dictionary");
            assertThat(failure.status()).isEqualTo(400);
        }
    }

    @Test
    void aReservedBitIsRefused() {
        assertThat(refused(ContentCoding.ZSTD, frame("0850", new byte[10])).detail())
                .contains("a header is wrong");
    }

    /** Whatever the header says: the library checks the length of the content. */
    @Test
    void aFrameWithAnotherLengthThanItSaysIsRefused() throws IOException {
        byte[] sent = Zstd.compress(text(200));
        assertThat(sent[4] & 0x20).as("a single segment").isNotZero();
        sent[5]++;
        assertThat(refused(ContentCoding.ZSTD, sent).status()).isEqualTo(400);
    }

    // ---- memory

    private Decompressing holding(ContentCoding coding, long most) {
        return new Decompressing(coding, PLENTY, PLENTY, new DecompressionMemory(bytes -> {
            held.add(bytes);
            return held.stream().mapToLong(Long::longValue).sum() <= most;
        }));
    }

    private static byte[] brotli(int windowLog, byte[] body) throws IOException {
        return Encoder.compress(body, new Encoder.Parameters().setWindow(windowLog));
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24})
    void theWindowOfBrotliIsCharged(int windowLog) throws IOException {
        byte[] sent = brotli(windowLog, text(20_000));
        try (Pieces pieces = new Pieces(holding(ContentCoding.BR, PLENTY))) {
            pieces.give(sent, Input.ENDS);
            assertThat(pieces.made.toByteArray()).isEqualTo(text(20_000));
        }
        long window = 1L << Math.min(windowLog, BrotliDecompressor.MAX_WINDOW_LOG);
        assertThat(held).containsExactly(window);
        held.clear();
        try (Pieces pieces = new Pieces(holding(ContentCoding.BR, window - 1))) {
            pieces.give(sent, Input.ENDS);
            assertThat(Objects.requireNonNull(pieces.failure).cause()).isEqualTo(Cause.OVERLOAD);
        }
    }

    /** The decoder fills a window before the gateway sees how large the output is, so it must not have a large one. */
    @ParameterizedTest
    @ValueSource(ints = {19, 20, 21, 22, 23, 24})
    void aLargerWindowOfBrotliServesOutputOfThatOfTheDecoder(int windowLog) throws IOException {
        int most = (1 << BrotliDecompressor.MAX_WINDOW_LOG) - 16;
        byte[] sent = brotli(windowLog, text(most));
        for (int chunk : new int[] {1, sent.length}) {
            try (Pieces pieces = new Pieces(holding(ContentCoding.BR, PLENTY))) {
                for (int at = 0; at < sent.length; at += chunk) {
                    pieces.give(sent, at, chunk, at + chunk == sent.length ? Input.ENDS : Input.PAUSES);
                }
                assertThat(pieces.failure).isNull();
                assertThat(pieces.made.toByteArray()).isEqualTo(text(most));
            }
        }
        for (byte[] body : new byte[][] {text(most + 1), new byte[10_000_000]}) {
            try (Pieces pieces = new Pieces(holding(ContentCoding.BR, PLENTY))) {
                pieces.give(brotli(windowLog, body), Input.PAUSES);
                Failure failure = Objects.requireNonNull(pieces.failure);
                assertThat(failure.status()).isEqualTo(400);
                assertThat(failure.detail()).contains("it needs a window of more than 256 KiB");
                assertThat(pieces.made.size()).isLessThanOrEqualTo(most);
            }
        }
    }

    /** A reference that reaches back as far as the whole output is right whatever the window. */
    @Test
    void referencesReachBackToTheBeginning() throws IOException {
        int most = (1 << BrotliDecompressor.MAX_WINDOW_LOG) - 16;
        byte[] body = new byte[most];
        new Random(7).nextBytes(body);
        System.arraycopy(body, 0, body, most - 60_000, 60_000);
        byte[] sent = brotli(22, body);
        assertThat(sent.length).isLessThan(most - 50_000);
        try (Pieces pieces = new Pieces(holding(ContentCoding.BR, PLENTY))) {
            pieces.give(sent, Input.ENDS);
            assertThat(pieces.failure).isNull();
            assertThat(pieces.made.toByteArray()).isEqualTo(body);
        }
    }

    /** The largest window of all frames counts, since the library keeps one at a time. */
    @Test
    void theWindowsOfZstdAreCharged() {
        byte[] small = Zstd.compress(text(1000));
        byte[] large = Zstd.compress(text(100_000));
        try (Pieces pieces = new Pieces(holding(ContentCoding.ZSTD, PLENTY))) {
            pieces.give(concat(small, large, large, small), Input.ENDS);
            assertThat(pieces.failure).isNull();
            assertThat(pieces.made.size()).isEqualTo(202_000);
        }
        assertThat(held).containsExactly(4L * 1000, 4L * 99_000);
        held.clear();
        try (Pieces pieces = new Pieces(holding(ContentCoding.ZSTD, 4L * 100_000 - 1))) {
            pieces.give(concat(small, large), Input.ENDS);
            assertThat(Objects.requireNonNull(pieces.failure).cause()).isEqualTo(Cause.OVERLOAD);
        }
    }

    @ParameterizedTest
    @EnumSource
    void bytesMayBeInAnyKindOfMemory(ContentCoding coding) throws IOException {
        byte[] noise = new byte[50_000];
        new Random(1).nextBytes(noise);
        byte[] sent = compressed(coding, noise);
        for (boolean composite : new boolean[] {false, true}) {
            ByteBuf in = composite
                    ? ByteBufAllocator.DEFAULT
                            .compositeBuffer()
                            .addComponents(
                                    true,
                                    Buffers.of(Arrays.copyOf(sent, 100)),
                                    Buffers.of(Arrays.copyOfRange(sent, 100, sent.length)))
                    : ByteBufAllocator.DEFAULT.heapBuffer().writeBytes(sent);
            try (Pieces pieces = decompress(coding)) {
                pieces.give(in, Input.ENDS);
                assertThat(pieces.failure).isNull();
                assertThat(pieces.made.toByteArray()).isEqualTo(noise);
            }
        }
    }

    /** Native memory must not be released twice, nor be used after that. */
    @ParameterizedTest
    @EnumSource
    void aBodyMayBeBrokenOffAnywhere(ContentCoding coding) throws IOException {
        byte[] sent = compressed(coding, text(2000));
        for (int length = 0; length <= sent.length; length++) {
            Pieces pieces = decompress(coding);
            pieces.give(sent, 0, length, Input.CONTINUES);
            pieces.close();
            pieces.close();
        }
    }

    /** The decoder says that it wants input, although it has more output: a window at a time. */
    @ParameterizedTest
    @ValueSource(ints = {10, 16, 17, 18})
    void aBodyThatIsMuchLargerThanTheWindowOfBrotliIsComplete(int windowLog) throws IOException {
        byte[] body = new byte[5_000_000];
        Arrays.fill(body, (byte) 'x');
        byte[] sent = brotli(windowLog, body);
        for (int chunk : new int[] {1, sent.length}) {
            try (Pieces pieces = decompress(ContentCoding.BR)) {
                for (int at = 0; at < sent.length; at += chunk) {
                    pieces.give(sent, at, chunk, at + chunk == sent.length ? Input.ENDS : Input.PAUSES);
                }
                assertThat(pieces.failure).isNull();
                assertThat(pieces.made.toByteArray()).isEqualTo(body);
            }
        }
    }

    /** Brotli has no checksum, so a change may go unnoticed, but it must not do harm. */
    @Test
    void aChangedByteOfBrotliIsRefusedOrDecompressed() throws IOException {
        byte[] sent = compressed(ContentCoding.BR, text(500));
        for (int i = 0; i < sent.length; i++) {
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                byte[] changed = sent.clone();
                changed[i] ^= (byte) (1 << bit);
                try (Pieces pieces = decompress(ContentCoding.BR, 100_000, PLENTY)) {
                    pieces.give(changed, Input.ENDS);
                    assertThat(pieces.failure == null ? 400 : pieces.failure.status())
                            .isIn(400, 413);
                }
            }
        }
    }
}
