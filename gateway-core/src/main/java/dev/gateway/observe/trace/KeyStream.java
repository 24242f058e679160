package dev.gateway.observe.trace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;

/**
 * Random numbers that nobody can tell from those before them, at the price of a few nanoseconds: the key stream of
 * ChaCha20 (RFC 8439, section 2.4) under a key that is forgotten with the process. Ids made of them reach strangers, and
 * a client that knows one must not know the next. In code of our own, because loading the JDK's ciphers takes longer than the
 * start of everything else. Of one event loop.
 */
public final class KeyStream {
    private static final int WORDS = 16;
    private static final int COUNTER = 12;
    private static final int[] CONSTANTS = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; // "expand 32-byte k"

    private final int[] input = new int[WORDS];
    private final int[] block = new int[WORDS];
    private int used = WORDS; // words of the block

    /** Makes one whose key is random. */
    public KeyStream() {
        this(random(32), random(12));
    }

    /**
     * Makes one of a known key.
     *
     * @param key 32 bytes
     * @param nonce 12 bytes
     */
    KeyStream(byte[] key, byte[] nonce) {
        System.arraycopy(CONSTANTS, 0, input, 0, CONSTANTS.length);
        ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(input, 4, 8);
        ByteBuffer.wrap(nonce).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(input, 13, 3);
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }

    /** Returns the next 64 bits. */
    public long nextLong() {
        if (used == WORDS) {
            nextBlock();
            used = 0;
        }
        long low = block[used++] & 0xffff_ffffL;
        return (long) block[used++] << 32 | low;
    }

    private void nextBlock() {
        int[] x = block;
        System.arraycopy(input, 0, x, 0, WORDS);
        for (int round = 0; round < 10; round++) {
            quarter(x, 0, 4, 8, 12);
            quarter(x, 1, 5, 9, 13);
            quarter(x, 2, 6, 10, 14);
            quarter(x, 3, 7, 11, 15);
            quarter(x, 0, 5, 10, 15);
            quarter(x, 1, 6, 11, 12);
            quarter(x, 2, 7, 8, 13);
            quarter(x, 3, 4, 9, 14);
        }
        for (int i = 0; i < WORDS; i++) {
            x[i] += input[i];
        }
        if (++input[COUNTER] == 0) {
            input[COUNTER + 1]++; // 256 GiB later
        }
    }

    private static void quarter(int[] x, int a, int b, int c, int d) {
        x[a] += x[b];
        x[d] = Integer.rotateLeft(x[d] ^ x[a], 16);
        x[c] += x[d];
        x[b] = Integer.rotateLeft(x[b] ^ x[c], 12);
        x[a] += x[b];
        x[d] = Integer.rotateLeft(x[d] ^ x[a], 8);
        x[c] += x[d];
        x[b] = Integer.rotateLeft(x[b] ^ x[c], 7);
    }
}
