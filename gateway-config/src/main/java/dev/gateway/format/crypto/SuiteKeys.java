package dev.gateway.format.crypto;

/** Which keys cipher suites up to TLS 1.2 are for, by the names of OpenSSL and of the JDK. Suites of TLS 1.3 are for all keys. */
public final class SuiteKeys {
    private SuiteKeys() {}

    /** Whether a suite is one of TLS 1.3. Older versions have none of these. */
    public static boolean isOfTls13(String suite) {
        return suite.startsWith("TLS_") && !suite.contains("_WITH_");
    }

    /** Whether a server with a key of this kind can agree on a suite up to TLS 1.2. */
    public static boolean fits(String suite, KeyKind kind) {
        if (isOfTls13(suite) || suite.contains("PSK")) {
            return false; // a shared secret needs no certificate
        }
        return switch (kind) {
            case EC_P256, EC_P384, EC_P521, ED25519, ED448 -> suite.contains("ECDSA");
            case RSA, RSA_PSS -> !suite.contains("ECDSA");
            case OTHER -> false;
        };
    }
}
