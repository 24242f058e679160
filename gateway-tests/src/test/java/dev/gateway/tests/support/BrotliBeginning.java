package dev.gateway.tests.support;

import java.util.BitSet;

/** Writes the beginning of a body of Brotli (RFC 7932), bit by bit. The lowest bit of a byte comes first. */
public final class BrotliBeginning {
    private final BitSet bits = new BitSet();
    private int length;

    private BrotliBeginning() {}

    /**
     * Returns the beginning of a body that declares as many prefix codes as it may (RFC 7932, section 9.2). A decoder allocates
     * their tables then.
     */
    public static byte[] mostPrefixCodes() {
        BrotliBeginning body = new BrotliBeginning();
        body.add(4, 3); // WBITS: 18
        body.add(1, 0); // ISLAST
        body.add(2, 0); // MNIBBLES: 4
        body.add(16, 0xffff); // MLEN - 1
        body.add(1, 0); // ISUNCOMPRESSED
        body.add(1, 0); // NBLTYPESL: 1
        body.add256(); // NBLTYPESI
        body.addCodeOfOne(9); // of block types
        body.addCodeOfOne(5); // of block counts
        body.add(2, 0); // the first block count
        body.add(1, 0); // NBLTYPESD: 1
        body.add(2, 3); // NPOSTFIX
        body.add(4, 15); // NDIRECT, with which distances have most symbols
        body.add(2, 0); // the context mode of literals
        body.addContextMap(); // of literals
        body.addContextMap(); // of distances
        return body.bytes();
    }

    private void add(int count, int value) {
        for (int i = 0; i < count; i++) {
            bits.set(length++, (value >> i & 1) != 0);
        }
    }

    /** Adds 256 as a number of block types or prefix codes. */
    private void add256() {
        add(1, 1);
        add(3, 7);
        add(7, 256 - 129);
    }

    /** Adds a simple prefix code that has only the symbol 0, which then takes no bits. */
    private void addCodeOfOne(int symbolBits) {
        add(2, 1);
        add(2, 0);
        add(symbolBits, 0);
    }

    /** Adds 256 prefix codes, of which the first is for all contexts. */
    private void addContextMap() {
        add256(); // NTREES
        add(1, 0); // RLEMAX
        addCodeOfOne(8);
        add(1, 0); // IMTF
    }

    /** Returns whole bytes, and one more: the decoder takes the last bits only when others follow. */
    private byte[] bytes() {
        byte[] bytes = new byte[length / 8 + 2];
        byte[] set = bits.toByteArray();
        System.arraycopy(set, 0, bytes, 0, set.length);
        return bytes;
    }
}
