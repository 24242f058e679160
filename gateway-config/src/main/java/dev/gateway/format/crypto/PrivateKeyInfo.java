package dev.gateway.format.crypto;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Wraps keys of older formats in PrivateKeyInfo (PKCS#8, RFC 5208), which the JDK reads. */
final class PrivateKeyInfo {
    private static final int SEQUENCE = 0x30;
    private static final int OCTET_STRING = 4;
    private static final int OBJECT_IDENTIFIER = 6;
    private static final int PARAMETERS = 0xA0;
    private static final byte[] RSA = {
        0x30, 13, 6, 9, 0x2A, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xF7, 13, 1, 1, 1, 5, 0
    };
    private static final byte[] EC_PUBLIC_KEY = {6, 7, 0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 2, 1};
    private static final byte[] VERSION_0 = {2, 1, 0};

    private PrivateKeyInfo() {}

    /** Wraps an RSAPrivateKey (PKCS#1, RFC 8017). */
    static byte[] ofRsa(byte[] pkcs1) {
        return of(RSA, pkcs1);
    }

    /**
     * Wraps an ECPrivateKey (SEC 1, RFC 5915).
     *
     * @param parameters what stood in a block of its own before the key, or null
     * @return null if neither names a curve
     */
    static byte @Nullable [] ofEc(byte[] sec1, byte @Nullable [] parameters) {
        byte[] curve = curve(sec1);
        if (curve == null && parameters != null && isIdentifier(parameters)) {
            curve = parameters;
        }
        return curve == null ? null : of(tagged(SEQUENCE, concat(EC_PUBLIC_KEY, curve)), sec1);
    }

    private static byte[] of(byte[] algorithm, byte[] key) {
        return tagged(SEQUENCE, concat(VERSION_0, concat(algorithm, tagged(OCTET_STRING, key))));
    }

    /** Finds the curve's identifier: SEQUENCE { INTEGER 1, OCTET STRING key, [0] { OBJECT IDENTIFIER } … }. */
    private static byte @Nullable [] curve(byte[] sec1) {
        int version = contentStart(sec1, 0);
        int key = end(sec1, version);
        int parameters = end(sec1, key);
        if (version < 0 || key < 0 || parameters < 0 || parameters >= sec1.length) {
            return null;
        }
        if ((sec1[parameters] & 0xFF) != PARAMETERS) {
            return null;
        }
        int end = end(sec1, parameters);
        if (end < 0) {
            return null;
        }
        byte[] curve = Arrays.copyOfRange(sec1, contentStart(sec1, parameters), end);
        return isIdentifier(curve) ? curve : null; // else the curve is spelt out, which nobody takes
    }

    private static boolean isIdentifier(byte[] der) {
        return der.length > 2 && der[0] == OBJECT_IDENTIFIER && end(der, 0) == der.length;
    }

    /** Returns where the content of an element starts, negative if there is none. */
    private static int contentStart(byte[] der, int at) {
        if (at < 0 || at + 2 > der.length) {
            return -1;
        }
        int length = der[at + 1] & 0xFF;
        int start = at + 2 + (length < 0x80 ? 0 : length & 0x7F);
        return start <= der.length ? start : -1;
    }

    /** Returns where an element ends, negative if that is not within the array. */
    private static int end(byte[] der, int at) {
        int start = contentStart(der, at);
        if (start < 0) {
            return -1;
        }
        long length = der[at + 1] & 0xFF;
        if (length >= 0x80) {
            length = 0;
            for (int i = at + 2; i < start; i++) {
                length = Math.min(length << 8 | (der[i] & 0xFF), Integer.MAX_VALUE);
            }
        }
        return start + length <= der.length ? (int) (start + length) : -1;
    }

    private static byte[] tagged(int tag, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        int length = content.length;
        if (length < 0x80) {
            out.write(length);
        } else {
            int bytes = length > 0xFFFF ? 3 : length > 0xFF ? 2 : 1; // no more than needed: DER has one form
            out.write(0x80 | bytes);
            for (int i = bytes - 1; i >= 0; i--) {
                out.write(length >> (8 * i));
            }
        }
        out.writeBytes(content);
        return out.toByteArray();
    }

    private static byte[] concat(byte[] a, byte[] b) {
        byte[] both = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }
}
