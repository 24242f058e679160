package dev.gateway.format.crypto;

import java.security.PublicKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;

/**
 * Kind of a certificate's key, as far as it decides which clients can verify the certificate. The kinds stand in the order in
 * which a server prefers them: those first whose signatures cost it least.
 */
public enum KeyKind {
    EC_P256("EC P-256"),
    EC_P384("EC P-384"),
    EC_P521("EC P-521"),
    ED25519("Ed25519"),
    ED448("Ed448"),
    RSA("RSA"),
    /** RSA whose key says that it is for signatures in PSS only. */
    RSA_PSS("RSASSA-PSS"),
    OTHER("another kind");

    private final String text;

    KeyKind(String text) {
        this.text = text;
    }

    /** Returns the kind of a key. */
    public static KeyKind of(PublicKey key) {
        if (key instanceof ECPublicKey ec) {
            return switch (ec.getParams().getOrder().bitLength()) {
                case 256 -> EC_P256;
                case 384 -> EC_P384;
                case 521 -> EC_P521;
                default -> OTHER;
            };
        }
        if (key instanceof EdECPublicKey edwards) {
            return edwards.getParams().getName().equals("Ed448") ? ED448 : ED25519;
        }
        if (key instanceof RSAPublicKey) {
            return key.getAlgorithm().equals("RSASSA-PSS") ? RSA_PSS : RSA;
        }
        return OTHER;
    }

    /** Returns its name for people. */
    @Override
    public String toString() {
        return text;
    }
}
