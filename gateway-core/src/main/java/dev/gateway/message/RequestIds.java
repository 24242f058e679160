package dev.gateway.message;

import io.netty.util.AsciiString;
import java.security.SecureRandom;

/**
 * Gives every request an id by which logs of all hops find each other: the one it came with, or a new one of 128 random
 * bits as 32 hexadecimal digits. Unique, not secret. One instance for each event loop, used on it only.
 */
public final class RequestIds {
    private static final int MAX_LENGTH = 128;
    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

    // xoroshiro128++ (Blackman and Vigna): 128 bits of state, a few instructions for 64 bits.
    private long s0;
    private long s1;

    /** Makes a generator whose start nobody can guess. */
    public RequestIds() {
        this(new SecureRandom().nextLong(), new SecureRandom().nextLong());
    }

    RequestIds(long s0, long s1) {
        this.s0 = s0;
        this.s1 = s1 == 0 ? 1 : s1; // all zeros would stay so
    }

    /**
     * Returns the request's {@code X-Request-Id}, after setting it to a new one if there is none that is accepted. An
     * id is accepted if there is exactly one, of at most 128 letters, digits and {@code - . _ ~ + / = : @}.
     *
     * @param accept whether the client's id is wanted at all
     */
    public AsciiString assign(Fields fields, boolean accept) {
        if (accept) {
            int i = fields.find(FieldName.X_REQUEST_ID, 0);
            if (i >= 0 && fields.find(FieldName.X_REQUEST_ID, i + 1) < 0) {
                AsciiString id = fields.value(i);
                if (isAcceptable(id)) {
                    return id;
                }
            }
        }
        AsciiString id = next();
        fields.set(FieldName.X_REQUEST_ID, id);
        return id;
    }

    private static boolean isAcceptable(AsciiString id) {
        if (id.isEmpty() || id.length() > MAX_LENGTH) {
            return false;
        }
        for (int i = 0; i < id.length(); i++) {
            byte b = id.byteAt(i);
            byte lower = Ascii.lower(b);
            if ((lower < 'a' || lower > 'z')
                    && (b < '-' || b > ':')
                    && b != '_'
                    && b != '~'
                    && b != '+'
                    && b != '='
                    && b != '@') {
                return false; // '-' to ':' are - . / the digits and :
            }
        }
        return true;
    }

    /** Returns a new id. */
    public AsciiString next() {
        byte[] id = new byte[32];
        hex(nextLong(), id, 0);
        hex(nextLong(), id, 16);
        return new AsciiString(id, false);
    }

    private long nextLong() {
        long a = s0;
        long b = s1;
        long result = Long.rotateLeft(a + b, 17) + a;
        b ^= a;
        s0 = Long.rotateLeft(a, 49) ^ b ^ (b << 21);
        s1 = Long.rotateLeft(b, 28);
        return result;
    }

    private static void hex(long bits, byte[] out, int from) {
        for (int i = from + 15; i >= from; i--, bits >>>= 4) {
            out[i] = HEX[(int) bits & 15];
        }
    }
}
