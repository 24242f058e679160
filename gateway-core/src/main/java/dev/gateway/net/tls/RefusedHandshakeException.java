package dev.gateway.net.tls;

import dev.gateway.stream.HandshakeFailure;
import javax.net.ssl.SSLHandshakeException;

/** The gateway has refused a client during its handshake. Says nothing that the client has sent, for logs have it. */
@SuppressWarnings("serial") // is never written anywhere
final class RefusedHandshakeException extends SSLHandshakeException {
    private final HandshakeFailure reason;

    RefusedHandshakeException(HandshakeFailure reason) {
        this(reason, reason.explanation());
    }

    RefusedHandshakeException(HandshakeFailure reason, String detail) {
        super(detail);
        this.reason = reason;
    }

    HandshakeFailure reason() {
        return reason;
    }
}
