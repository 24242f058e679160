package dev.gateway.net.tls;

import dev.gateway.stream.HandshakeFailure;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLException;

/**
 * TLS handshake failure classification: tells why a handshake failed from what BoringSSL, OpenSSL or the JDK throw, whose
 * reasons are words in messages.
 */
public final class HandshakeFailures {
    private static final List<String> VERSION = List.of(
            "UNSUPPORTED_PROTOCOL",
            "PROTOCOL_VERSION",
            "WRONG_VERSION",
            "CLIENT_REQUESTED_PROTOCOL",
            "INAPPROPRIATE_FALLBACK",
            "NO_APPROPRIATE_PROTOCOL");
    private static final List<String> CIPHER =
            List.of("NO_SHARED_CIPHER", "NO_CIPHER_SUITES", "NO_SHARED_GROUP", "NO_COMMON_SIGNATURE");
    private static final List<String> CLIENT_CERTIFICATE = List.of(
            "PEER_DID_NOT_RETURN_A_CERTIFICATE",
            "EMPTY_CLIENT_CERTIFICATE",
            "CERTIFICATE_VERIFY_FAILED",
            "PKIX",
            "EXCESSIVE_MESSAGE_SIZE"); // no other message of a client is that long

    private HandshakeFailures() {}

    /** Returns the reason. */
    public static HandshakeFailure of(Throwable failure) {
        HandshakeFailure found = HandshakeFailure.OTHER;
        for (Throwable each = failure; each != null; each = each.getCause()) {
            HandshakeFailure reason = reason(each);
            if (reason == HandshakeFailure.CLIENT_CERTIFICATE) {
                return reason; // what the others are a consequence of
            }
            found = found == HandshakeFailure.OTHER ? reason : found;
        }
        return found;
    }

    private static HandshakeFailure reason(Throwable failure) {
        if (failure instanceof RefusedHandshakeException refused) {
            return refused.reason();
        }
        if (failure instanceof NotSslRecordException) {
            return HandshakeFailure.CLEARTEXT;
        }
        if (failure instanceof SslHandshakeTimeoutException) {
            return HandshakeFailure.TIMEOUT;
        }
        if (failure instanceof ClosedChannelException) {
            return HandshakeFailure.CLOSED;
        }
        if (failure instanceof GeneralSecurityException) {
            return HandshakeFailure.CLIENT_CERTIFICATE; // of a trust manager
        }
        String words =
                String.valueOf(failure.getMessage()).toUpperCase(Locale.ROOT).replace(' ', '_');
        if (words.contains("CONNECTION_RESET")) {
            return HandshakeFailure.CLOSED;
        }
        return failure instanceof SSLException ? ofWords(words) : HandshakeFailure.OTHER;
    }

    private static HandshakeFailure ofWords(String words) {
        if (VERSION.stream().anyMatch(words::contains)) {
            return HandshakeFailure.PROTOCOL_VERSION;
        }
        if (CIPHER.stream().anyMatch(words::contains)) {
            return HandshakeFailure.CIPHER;
        }
        if (CLIENT_CERTIFICATE.stream().anyMatch(words::contains)) {
            return HandshakeFailure.CLIENT_CERTIFICATE;
        }
        boolean alert = words.contains("ALERT"); // what the client says of us
        return alert && (words.contains("CERTIFICATE") || words.contains("UNKNOWN_CA"))
                ? HandshakeFailure.CERTIFICATE_REFUSED
                : HandshakeFailure.OTHER;
    }
}
