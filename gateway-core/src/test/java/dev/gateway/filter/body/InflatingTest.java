package dev.gateway.filter.body;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is decompressed of what the JDK has compressed, and what is refused. */
class InflatingTest {
    private static final long PLENTY = 1L << 40;

    private static Pieces decompress(ContentCoding coding) {
        return new Pieces(new Inflating(coding, PLENTY, PLENTY));
    }

    private static byte[] compressed(ContentCoding coding, byte[] body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out =
                coding == ContentCoding.GZIP ? new GZIPOutputStream(bytes) : new DeflaterOutputStream(bytes)) {
            out.write(body);
        }
        return bytes.toByteArray();
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

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255, 256, 257, 16_383, 16_384, 16_385, 1_000_000})
    void noPieceIsLargeAndNothingIsLost(int length) throws IOException {
        byte[] noise = new byte[length];
        new Random(length).nextBytes(noise);
        for (byte[] body : new byte[][] {text(length), noise, new byte[length]}) {
            try (Pieces pieces = decompress(ContentCoding.GZIP)) {
                pieces.give(compressed(ContentCoding.GZIP, body), Input.ENDS);
                assertThat(pieces.failure).isNull();
                assertThat(pieces.sizes).allMatch(size -> size <= 16 * 1024);
                assertThat(pieces.made.toByteArray()).isEqualTo(body);
            }
        }
    }

    /** RFC 1952, section 2.2. */
    @Test
    void severalMembersAreOneBody() throws IOException {
        byte[] one = compressed(ContentCoding.GZIP, text(100));
        byte[] none = compressed(ContentCoding.GZIP, new byte[0]);
        byte[] two = compressed(ContentCoding.GZIP, text(300));
        byte[] sent = concat(one, none, two);
        for (int cut = 0; cut <= sent.length; cut++) {
            try (Pieces pieces = decompress(ContentCoding.GZIP)) {
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
    @EnumSource
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
    @EnumSource
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
    }

    @Test
    void whatIsNotCompressedIsRefused() {
        assertThat(refused(ContentCoding.GZIP, text(100)).detail()).contains("a header is wrong");
        assertThat(refused(ContentCoding.DEFLATE, text(100)).detail()).contains("the header is wrong");
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

    @ParameterizedTest
    @ValueSource(ints = {99_999, 100_000})
    void aBodyMayBecomeSoLargeAndNoLarger(int most) throws IOException {
        byte[] sent = compressed(ContentCoding.GZIP, text(100_000));
        try (Pieces pieces = new Pieces(new Inflating(ContentCoding.GZIP, most, PLENTY))) {
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

    @Test
    void aBombIsStoppedByItsRatio() throws IOException {
        byte[] sent = compressed(ContentCoding.GZIP, new byte[50_000_000]);
        try (Pieces pieces = new Pieces(new Inflating(ContentCoding.GZIP, PLENTY, 100))) {
            pieces.give(sent, Input.ENDS);
            Failure failure = Objects.requireNonNull(pieces.failure);
            assertThat(failure.status()).isEqualTo(413);
            assertThat(failure.detail()).contains("more than 100 times its size");
            assertThat(pieces.made.size()).isBetween(Inflating.FREE - 16 * 1024, Inflating.FREE + 16 * 1024);
        }
    }

    @Test
    void aShortBodyMayGrowByAnyFactor() throws IOException {
        byte[] sent = compressed(ContentCoding.GZIP, new byte[Inflating.FREE]);
        try (Pieces pieces = new Pieces(new Inflating(ContentCoding.GZIP, PLENTY, 2))) {
            pieces.give(sent, Input.ENDS);
            assertThat(pieces.failure).isNull();
            assertThat(pieces.made.size()).isEqualTo(Inflating.FREE);
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
}
