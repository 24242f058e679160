package dev.gateway.protocol.http1;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The key of a WebSocket handshake and its answer, by which two neighbors show each other that they mean it (RFC 6455,
 * section 4). A matter of one connection: what the client chose never goes further.
 */
final class WebSocketKey {
    private static final int BYTES = 16;
    private static final byte[] GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11".getBytes(StandardCharsets.US_ASCII);

    private WebSocketKey() {}

    /** Makes a key. It is to be different each time, for caches and confused servers; it is no secret. */
    static AsciiString next() {
        byte[] random = new byte[BYTES];
        ThreadLocalRandom.current().nextBytes(random);
        return new AsciiString(Base64.getEncoder().encode(random), false);
    }

    /** Whether a client may have chosen this key. */
    static boolean isValid(AsciiString key) {
        try {
            return Base64.getDecoder().decode(key.toByteArray()).length == BYTES;
        } catch (IllegalArgumentException notBase64) {
            return false;
        }
    }

    /** Returns what proves that the key was read. */
    static AsciiString accept(AsciiString key) {
        try {
            MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
            sha1.update(key.array(), key.arrayOffset(), key.length());
            return new AsciiString(Base64.getEncoder().encode(sha1.digest(GUID)), false);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java platform has it
        }
    }
}
