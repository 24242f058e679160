package dev.gateway.message;

import io.netty.util.AsciiString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.SecureRandom;

/**
 * Keyed hash of parts of requests: SipHash-1-3. Who does not know the key cannot find texts of the same hash, so it is for
 * tables whose keys clients choose. Immutable; copies nothing. Each method continues from a number: the hash of what came
 * before, or that of a purpose.
 */
public sealed class KeyedHash permits PartDigest {
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN)
            .withInvokeExactBehavior();
    private static final long ABSENT = 0x9e3779b97f4a7c15L;

    private final long key0;
    private final long key1;

    /** Makes the hash of a key. */
    public KeyedHash(long key0, long key1) {
        this.key0 = key0;
        this.key1 = key1;
    }

    /** Makes a hash with a key that nobody knows. */
    public static KeyedHash random() {
        SecureRandom random = new SecureRandom();
        return new KeyedHash(random.nextLong(), random.nextLong());
    }

    /** The state of one computation. */
    private static final class Sip {
        private long v0;
        private long v1;
        private long v2;
        private long v3;

        Sip(long key0, long key1) {
            v0 = key0 ^ 0x736f6d6570736575L;
            v1 = key1 ^ 0x646f72616e646f6dL;
            v2 = key0 ^ 0x6c7967656e657261L;
            v3 = key1 ^ 0x7465646279746573L;
        }

        void add(long word) {
            v3 ^= word;
            round();
            v0 ^= word;
        }

        private void round() {
            v0 += v1;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            v0 = Long.rotateLeft(v0, 32);
            v2 += v3;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            v0 += v3;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            v2 += v1;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            v2 = Long.rotateLeft(v2, 32);
        }

        long end() {
            v2 ^= 0xff;
            round();
            round();
            round();
            return v0 ^ v1 ^ v2 ^ v3;
        }
    }

    /** Returns the hash of what is not there; another one than that of nothing that is there. */
    public long ofAbsent(long before) {
        return of(before, ABSENT);
    }

    /** Returns the hash of a number. */
    public long of(long before, long number) {
        Sip sip = new Sip(key0, key1);
        sip.add(before);
        sip.add(number);
        sip.add((2L * Long.BYTES) << 56);
        return sip.end();
    }

    /** Returns the hash of a text. */
    public long of(long before, CharSequence text) {
        if (text instanceof AsciiString ascii) {
            return of(before, ascii.array(), ascii.arrayOffset(), ascii.length());
        }
        Sip sip = new Sip(key0, key1);
        sip.add(before);
        for (int i = 0; i < text.length(); i++) {
            sip.add(text.charAt(i));
        }
        sip.add((long) text.length() << 56);
        return sip.end();
    }

    /** Returns the hash of all values of a field. */
    public long ofHeader(long before, Fields fields, FieldName name) {
        int i = fields.find(name, 0);
        if (i < 0) {
            return ofAbsent(before);
        }
        long hash = before;
        for (; i >= 0; i = fields.find(name, i + 1)) {
            hash = of(hash, fields.array(), fields.valueStart(i), fields.valueLength(i));
        }
        return hash;
    }

    /** Returns the hash of a cookie's value. */
    public long ofCookie(long before, Fields fields, AsciiString name) {
        return ofRange(before, fields.array(), NamedValue.ofCookie(fields, name));
    }

    /** Returns the hash of the first query parameter of that name, as it was written. */
    public long ofQueryParameter(long before, RequestHead head, AsciiString name) {
        return ofRange(before, head.path().array(), NamedValue.ofQueryParameter(head, name));
    }

    private long ofRange(long before, byte[] bytes, long range) {
        return range == NamedValue.NONE
                ? ofAbsent(before)
                : of(before, bytes, NamedValue.start(range), NamedValue.length(range));
    }

    /** Returns SipHash-1-3 of eight bytes and those of a part of an array. */
    long of(long before, byte[] bytes, int start, int length) {
        Sip sip = new Sip(key0, key1);
        sip.add(before);
        int at = start;
        for (int end = start + length - 7; at < end; at += 8) {
            sip.add((long) WORD.get(bytes, at));
        }
        long last = (long) (length + Long.BYTES) << 56;
        for (int shift = 0; at < start + length; at++, shift += 8) {
            last |= (bytes[at] & 0xffL) << shift;
        }
        sip.add(last);
        return sip.end();
    }
}
