package dev.gateway.message;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Digest of parts of requests: SHA-256 of the parts that a {@link KeyedHash} hashes. It is the same in every process. Nobody can find other parts with the same digest, though there is no secret. Each method returns 0 and
 * adds to the digest that {@link #end} returns. Confined to a thread.
 */
public final class PartDigest extends KeyedHash {
    private static final int KEPT = 16; // as strong against collisions as SipHash's key is long

    private final MessageDigest digest;
    private final ByteBuffer scratch = ByteBuffer.allocate(1 + 2 * Long.BYTES);

    /** Makes one to which nothing is added yet. */
    public PartDigest() {
        super(0, 0);
        try {
            this.digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java runtime has SHA-256", e);
        }
    }

    @Override
    public long of(long before, long number) {
        add('n', before, number);
        return 0;
    }

    @Override
    public long of(long before, CharSequence text) {
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        return of(before, bytes, 0, bytes.length);
    }

    @Override
    long of(long before, byte[] bytes, int start, int length) {
        add('t', before, length);
        digest.update(bytes, start, length);
        return 0;
    }

    private void add(char kind, long before, long number) {
        scratch.clear().put((byte) kind).putLong(before).putLong(number);
        digest.update(scratch.array());
    }

    /** Returns the digest of what was added, in hexadecimal digits, and begins again. */
    public String end() {
        return HexFormat.of().formatHex(Arrays.copyOf(digest.digest(), KEPT));
    }
}
