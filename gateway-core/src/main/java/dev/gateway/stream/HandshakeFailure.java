package dev.gateway.stream;

import java.util.Locale;

/** TLS handshake failure. Why a TLS handshake with a client failed: a closed list for logs and metrics. */
public enum HandshakeFailure {
    CLOSED("the client closed the connection"),
    TIMEOUT("the client took too long"),
    CLEARTEXT("the client did not speak TLS"),
    PROTOCOL_VERSION("client and listener have no version of TLS in common"),
    CIPHER("client and listener have no cipher suite in common"),
    APPLICATION_PROTOCOL("the client offers only ALPN protocols that this listener does not serve"),
    SERVER_NAME("the client asks for a name that no certificate of this listener has"),
    CERTIFICATE_REFUSED("the client does not accept the certificate of this listener"),
    CLIENT_CERTIFICATE("the client's certificate is missing or not accepted"),
    OVERLOAD("no memory was left for the client's hello"),
    OTHER("the handshake could not be completed");

    private final String label = name().toLowerCase(Locale.ROOT);
    private final String explanation;

    HandshakeFailure(String explanation) {
        this.explanation = explanation;
    }

    /** Returns the word for labels. */
    public String label() {
        return label;
    }

    /** Says the same to people. */
    public String explanation() {
        return explanation;
    }
}
