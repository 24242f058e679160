package dev.gateway.exchange.request;

import dev.gateway.observe.trace.KeyStream;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/**
 * Makes request IDs of 32 hexadecimal digits, which do not repeat and cannot be guessed. Checks the IDs of clients.
 * Confined to an event loop.
 */
public final class RequestIds {
    private static final int MAX_LENGTH = 128;
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private final KeyStream random = new KeyStream();

    AsciiString next() {
        byte[] id = new byte[32];
        hex(random.nextLong(), id, 0);
        hex(random.nextLong(), id, 16);
        return new AsciiString(id, false);
    }

    private static void hex(long bits, byte[] to, int start) {
        for (int i = 0; i < 16; i++) {
            to[start + i] = HEX[(int) (bits >>> (60 - 4 * i)) & 0xf];
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
