package dev.gateway.protocol.http2;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Recognizes servers that answer the preface of HTTP/2 in another protocol, by their first bytes. */
final class OtherProtocol {
    /** How many bytes it takes. */
    static final int BYTES = 5;

    private static final int TLS_ALERT = 21;
    private static final int TLS_MAJOR_VERSION = 3;

    private OtherProtocol() {}

    /** Returns what the first bytes are instead of a SETTINGS frame, and what may help; null if they may begin one. */
    static @Nullable String of(ByteBuf in) {
        int at = in.readerIndex();
        String text = in.toString(at, BYTES, StandardCharsets.ISO_8859_1);
        if (text.equals("HTTP/")) {
            return "an answer of HTTP/1 instead of HTTP/2; 'protocol: http1' of the upstream speaks that";
        }
        return in.getByte(at) == TLS_ALERT && in.getByte(at + 1) == TLS_MAJOR_VERSION
                ? "a TLS alert instead of HTTP/2; the upstream may need 'tls' and 'protocol: h2'"
                : null;
    }
}
