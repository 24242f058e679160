package dev.gateway.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** An input of a fuzz target. The first bytes control the target, the others are what a peer sends. */
public final class FuzzInput {
    private static final int MOST_LENGTHS = 7;

    private final byte[] input;
    private int position;

    /** Takes what the fuzzer has made. */
    public FuzzInput(byte[] input) {
        this.input = input;
    }

    /** Returns the next control byte, from 0 to 255; 0 if there is none. */
    public int control() {
        return position < input.length ? input[position++] & 0xff : 0;
    }

    /**
     * Reads how the bytes of the peer are cut. A control byte says how many lengths follow, at most seven; each is a byte, and
     * 0 stands for 256. The lengths are used again and again. Without any, each piece is a single byte.
     */
    public Cut cut() {
        int[] lengths = new int[control() & MOST_LENGTHS];
        for (int i = 0; i < lengths.length; i++) {
            int length = control();
            lengths[i] = length == 0 ? 256 : length;
        }
        return new Cut(lengths);
    }

    /** Returns all bytes that are left. */
    public byte[] rest() {
        byte[] rest = Arrays.copyOfRange(input, position, input.length);
        position = input.length;
        return rest;
    }

    /** How bytes are cut. */
    public static final class Cut {
        private final int[] lengths;

        private Cut(int... lengths) {
            this.lengths = lengths.length == 0 ? new int[] {1} : lengths;
        }

        /** Returns the bytes as pieces, none of them empty. */
        public List<byte[]> pieces(byte[] bytes) {
            List<byte[]> pieces = new ArrayList<>();
            int from = 0;
            while (from < bytes.length) {
                int to = Math.min(bytes.length, from + lengths[pieces.size() % lengths.length]);
                pieces.add(Arrays.copyOfRange(bytes, from, to));
                from = to;
            }
            return pieces;
        }
    }
}
