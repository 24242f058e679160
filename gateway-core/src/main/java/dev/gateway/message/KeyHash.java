package dev.gateway.message;

import io.netty.util.AsciiString;

/**
 * Hashes of parts of requests, for balancing: FNV-1a, mixed. The same in all processes. Not for secrets, and a client that
 * wants to can find texts of the same hash. Copies nothing.
 */
public final class KeyHash {
    /** There is no such part; no hash is this. */
    public static final long NONE = 0;

    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    private KeyHash() {}

    /** Returns the hash of a text of ASCII characters. */
    public static long of(CharSequence text) {
        if (text instanceof AsciiString ascii) {
            return done(add(BASIS, ascii.array(), ascii.arrayOffset(), ascii.length()));
        }
        long hash = BASIS;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ (text.charAt(i) & 0xff)) * PRIME;
        }
        return done(hash);
    }

    /** Returns the hash that follows on another one. */
    public static long next(long hash) {
        return done(hash + GOLDEN);
    }

    /** Returns the hash of all values of a field. */
    public static long ofHeader(Fields fields, FieldName name) {
        long hash = BASIS;
        int i = fields.find(name, 0);
        if (i < 0) {
            return NONE;
        }
        for (; i >= 0; i = fields.find(name, i + 1)) {
            hash = add(hash, fields.array(), fields.valueStart(i), fields.valueLength(i));
        }
        return done(hash);
    }

    /** Returns the hash of the host that a request names. */
    public static long ofAuthority(RequestHead head) {
        return head.authority().isEmpty() ? NONE : of(head.authority());
    }

    /** Returns the hash of a cookie's value. */
    public static long ofCookie(Fields fields, AsciiString name) {
        long range = NamedValue.ofCookie(fields, name);
        return range == NamedValue.NONE ? NONE : of(fields.array(), range);
    }

    /** Returns the hash of the first query parameter of that name, as it was written. */
    public static long ofQueryParameter(RequestHead head, AsciiString name) {
        long range = NamedValue.ofQueryParameter(head, name);
        return range == NamedValue.NONE ? NONE : of(head.path().array(), range);
    }

    private static long of(byte[] bytes, long range) {
        return done(add(BASIS, bytes, NamedValue.start(range), NamedValue.length(range)));
    }

    /** Returns the hash of the path without its query. */
    public static long ofPath(RequestHead head) {
        AsciiString path = head.path();
        return path.isEmpty() ? NONE : done(add(BASIS, path.array(), path.arrayOffset(), head.queryStart()));
    }

    private static long add(long hash, byte[] bytes, int start, int length) {
        long sum = hash;
        for (int i = start; i < start + length; i++) {
            sum = (sum ^ (bytes[i] & 0xff)) * PRIME;
        }
        return sum;
    }

    /** Lets each bit of the result depend on all (the end of MurmurHash3). */
    private static long done(long hash) {
        long h = hash;
        h = (h ^ h >>> 33) * 0xff51afd7ed558ccdL;
        h = (h ^ h >>> 33) * 0xc4ceb9fe1a85ec53L;
        h ^= h >>> 33;
        return h == NONE ? 1 : h;
    }
}
