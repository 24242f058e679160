package dev.gateway.upstream;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Session tokens: each names an endpoint of one upstream and the end of the session, signed (HMAC-SHA-256, cut to 128
 * bits). A digest names the endpoint. Only a holder of the key can make it, so a token discloses no address, and nobody
 * else can make one. Safe from any thread, except {@link #ids}.
 */
final class SessionKeys {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int ID = Long.BYTES;
    private static final int CLAIMS = ID + Long.BYTES;
    private static final int SIGNATURE = 16;
    private static final int ALL = CLAIMS + SIGNATURE;
    private static final int TEXT = (ALL * 4 + 2) / 3; // base64url without padding

    private static final long[] NONE = {};

    private final String upstream;
    private final List<Mac> macs = new ArrayList<>(); // cloned for each use
    private Map<Endpoint, long[]> known = Map.of(); // guarded by the caller of ids()

    /**
     * What a token says.
     *
     * @param id names the endpoint
     * @param end in seconds since 1970, 0 for never
     * @param key the position of the key that signed it
     */
    record Claims(long id, long end, int key) {}

    /**
     * Makes tokens for one upstream.
     *
     * @param keys the first signs, all are accepted; at least one
     */
    SessionKeys(String upstream, List<String> keys) {
        this.upstream = upstream;
        for (String key : keys) {
            try {
                Mac mac = Mac.getInstance(ALGORITHM);
                mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), ALGORITHM));
                macs.add(mac);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e); // each JDK has this algorithm
            }
        }
    }

    private byte[] digest(int key, String purpose, byte[] of) {
        try {
            Mac mac = (Mac) macs.get(key).clone();
            mac.update((purpose + '\0' + upstream + '\0').getBytes(StandardCharsets.UTF_8));
            return mac.doFinal(of);
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e); // the JDK's implementation can be cloned
        }
    }

    private long id(int key, Endpoint endpoint) {
        byte[] address = endpoint.toString().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.wrap(digest(key, "endpoint", address)).getLong();
    }

    /** Returns endpoints by their IDs in tokens; one thread at a time. Computes only the IDs of new endpoints. */
    Map<Long, Endpoint> ids(List<Host> hosts) {
        Map<Endpoint, long[]> next = new HashMap<>();
        Map<Long, Endpoint> ids = new HashMap<>();
        for (Host host : hosts) {
            long[] idsOfHost = known.getOrDefault(host.endpoint(), NONE);
            if (idsOfHost.length == 0) {
                idsOfHost = new long[macs.size()];
                Arrays.setAll(idsOfHost, key -> id(key, host.endpoint()));
            }
            next.put(host.endpoint(), idsOfHost);
            for (long id : idsOfHost) {
                ids.put(id, host.endpoint());
            }
        }
        known = next;
        return ids;
    }

    /**
     * Returns a token.
     *
     * @param end in seconds since 1970, 0 for never
     */
    String token(Endpoint endpoint, long end) {
        ByteBuffer claims = ByteBuffer.allocate(CLAIMS).putLong(id(0, endpoint)).putLong(end);
        byte[] all = Arrays.copyOf(claims.array(), ALL);
        System.arraycopy(digest(0, "token", claims.array()), 0, all, CLAIMS, SIGNATURE);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(all);
    }

    /** Returns what a token says, null if it is not one of ours or has ended. */
    @Nullable
    Claims verify(CharSequence token, long now) {
        if (token.length() != TEXT) {
            return null;
        }
        byte[] all;
        try {
            all = Base64.getUrlDecoder().decode(token.toString());
        } catch (IllegalArgumentException e) {
            return null;
        }
        byte[] claims = Arrays.copyOf(all, CLAIMS);
        byte[] signature = Arrays.copyOfRange(all, CLAIMS, ALL);
        long end = ByteBuffer.wrap(claims).getLong(ID);
        for (int key = 0; key < macs.size(); key++) {
            byte[] expected = Arrays.copyOf(digest(key, "token", claims), SIGNATURE);
            if (MessageDigest.isEqual(expected, signature)) {
                return end == 0 || end > now
                        ? new Claims(ByteBuffer.wrap(claims).getLong(), end, key)
                        : null;
            }
        }
        return null;
    }
}
