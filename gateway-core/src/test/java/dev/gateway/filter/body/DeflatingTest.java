package dev.gateway.filter.body;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.BodyTransform.Input;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the JDK's readers make of what is compressed. */
class DeflatingTest {
    private final CompressedBytes count = new CompressedBytes();

    private Pieces compress(ContentCoding coding) {
        return new Pieces(new Deflating(coding, 6, count));
    }

    private static byte[] read(ContentCoding coding, byte[] compressed) throws IOException {
        ByteArrayInputStream in = new ByteArrayInputStream(compressed);
        try (InputStream out = coding == ContentCoding.GZIP ? new GZIPInputStream(in) : new InflaterInputStream(in)) {
            return out.readAllBytes();
        }
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

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1000, 16_383, 16_384, 16_385, 100_000, 1_000_000})
    void noPieceIsLargeAndNothingIsLost(int length) throws IOException {
        for (byte[] body : new byte[][] {text(length), noise(length), new byte[length]}) {
            try (Pieces pieces = compress(ContentCoding.GZIP)) {
                for (int at = 0; at < length; at += 60_000) {
                    pieces.give(body, at, Math.min(60_000, length - at), Input.CONTINUES);
                }
                pieces.end();
                assertThat(pieces.sizes).allMatch(size -> size <= 16 * 1024);
                assertThat(read(ContentCoding.GZIP, pieces.made.toByteArray())).isEqualTo(body);
            }
        }
    }

    @Test
    void nothingIsPassedOnForSoLittleUntilThereIsAPause() {
        try (Pieces pieces = compress(ContentCoding.GZIP)) {
            assertThat(pieces.give(text(100), Input.CONTINUES)).isZero();
            assertThat(pieces.pause()).isPositive();
            assertThat(pieces.pause()).as("nothing has come since").isZero();
            pieces.end();
        }
    }

    /** A reader has all that came before the pause, whatever follows. */
    @ParameterizedTest
    @ValueSource(ints = {1, 100, 5000, 16_360, 16_368, 16_384, 60_000})
    void aPauseDeliversAllThatHasCome(int length) throws IOException {
        for (byte[] part : new byte[][] {text(length), noise(length)}) {
            try (Pieces pieces = compress(ContentCoding.GZIP)) {
                for (int i = 1; i <= 3; i++) {
                    pieces.give(part, Input.PAUSES);
                    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(pieces.made.toByteArray()))) {
                        assertThat(in.readNBytes(i * length))
                                .hasSize(i * length)
                                .endsWith(part);
                    }
                }
                pieces.end();
                assertThat(read(ContentCoding.GZIP, pieces.made.toByteArray())).hasSize(3 * length);
            }
        }
    }

    @Test
    void theLevelDecides() {
        byte[] body = text(100_000);
        int[] sizes = new int[2];
        for (int i = 0; i < 2; i++) {
            try (Pieces pieces = new Pieces(new Deflating(ContentCoding.GZIP, i == 0 ? 1 : 9, count))) {
                pieces.give(body, Input.ENDS);
                sizes[i] = pieces.made.size();
            }
        }
        assertThat(sizes[1]).isLessThan(sizes[0]);
    }

    @Test
    void aFewCompressorsAreKeptAndUsedAgain() throws IOException {
        Deflaters loop = Deflaters.ofThisLoop();
        Pieces[] all = new Pieces[6];
        for (int i = 0; i < all.length; i++) {
            all[i] = compress(ContentCoding.GZIP);
            all[i].give(text(100), Input.PAUSES);
        }
        int most = loop.kept();
        for (Pieces pieces : all) {
            pieces.close(); // in the middle
        }
        assertThat(loop.kept()).isEqualTo(4).isGreaterThanOrEqualTo(most);
        for (int i = 0; i < 6; i++) {
            try (Pieces pieces = compress(ContentCoding.GZIP)) {
                byte[] body = text(300 + i);
                pieces.give(body, Input.ENDS);
                assertThat(loop.kept()).isEqualTo(3);
                assertThat(read(ContentCoding.GZIP, pieces.made.toByteArray())).isEqualTo(body);
            }
        }
        assertThat(loop.kept()).isEqualTo(4);
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
        Deflaters loop = Deflaters.ofThisLoop();
        java.util.zip.Deflater[] old = new java.util.zip.Deflater[4];
        for (int i = 0; i < old.length; i++) {
            old[i] = loop.take(6);
        }
        for (java.util.zip.Deflater each : old) {
            loop.giveBack(each, 6);
        }
        java.util.zip.Deflater other = loop.take(1);
        loop.giveBack(other, 1);
        assertThat(loop.kept()).isLessThanOrEqualTo(4);
        java.util.zip.Deflater again = loop.take(1);
        assertThat(again).isSameAs(other);
        loop.giveBack(again, 1);
    }
}
