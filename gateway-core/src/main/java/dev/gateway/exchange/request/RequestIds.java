package dev.gateway.exchange.request;

import dev.gateway.config.listener.ListenerConfig.RequestId.Format;
import dev.gateway.observe.trace.KeyStream;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Makes request IDs, which do not repeat and cannot be guessed. Checks the IDs of clients. Confined to an event loop.
 */
public final class RequestIds {
    private static final int MAX_LENGTH = 128;
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private final KeyStream random = new KeyStream();

    AsciiString next(Format format) {
        return switch (format) {
            case HEX -> hex();
            case UUID -> uuid();
        };
    }

    private AsciiString hex() {
        byte[] id = new byte[32];
        hex(random.nextLong(), 16, id, 0);
        hex(random.nextLong(), 16, id, 16);
        return new AsciiString(id, false);
    }

    private AsciiString uuid() {
        byte[] id = new byte[36];
        Arrays.fill(id, (byte) '-');
        long high = (random.nextLong() & ~0xf000L) | 0x4000L; // version 4
        long low = (random.nextLong() & ~(3L << 62)) | (2L << 62); // the variant of RFC 9562
        hex(high >>> 32, 8, id, 0);
        hex(high >>> 16, 4, id, 9);
        hex(high, 4, id, 14);
        hex(low >>> 48, 4, id, 19);
        hex(low, 12, id, 24);
        return new AsciiString(id, false);
    }

    /** Writes the low digits of a number. */
    private static void hex(long bits, int digits, byte[] to, int start) {
        for (int i = 0; i < digits; i++) {
            to[start + i] = HEX[(int) (bits >>> (4 * (digits - 1 - i))) & 0xf];
        }
    }

    /** Whether an ID can be logged and quoted everywhere without escapes. */
    static boolean isAcceptable(AsciiString id) {
        int length = id.length();
        if (length == 0 || length > MAX_LENGTH) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            byte b = id.byteAt(i);
            boolean letterOrDigit = (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z');
            if (!letterOrDigit && "-._~+/=:".indexOf(b) < 0) {
                return false;
            }
        }
        return true;
    }
}
