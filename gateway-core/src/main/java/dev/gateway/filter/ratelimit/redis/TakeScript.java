package dev.gateway.filter.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The script by which Redis takes requests out of a bucket, by the clock of Redis. A bucket is what it lacks and when that
 * was so; one that is full has no key.
 */
final class TakeScript {
    /**
     * KEYS[1] the bucket; ARGV[1] requests wanted, negative to put them back; ARGV[2] capacity and ARGV[3] speed for each
     * microsecond, in ticks of 65536 for one request. If the clock has stepped back, a bucket fills on from there. Returns
     * how many were taken, and what the bucket lacks then.
     */
    static final String TEXT =
            """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local wanted, capacity, speed = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
            local lacks, steppedBack = 0, false
            local bucket = redis.call('GET', KEYS[1])
            if bucket then
              local before, at = string.match(bucket, '^(%d+) (%d+)$')
              lacks = math.max(0, before - math.max(0, now - at) * speed)
              steppedBack = tonumber(at) > now
            end
            local taken = math.min(wanted, math.max(0, math.floor((capacity - lacks) / 65536)))
            if taken ~= 0 or steppedBack then
              lacks = math.floor(math.max(0, lacks + taken * 65536) + 0.5)
              local full = math.ceil(lacks / speed / 1000)
              redis.call('SET', KEYS[1], string.format('%.0f %.0f', lacks, now), 'PX', math.max(1, full))
            end
            return {taken, math.ceil(lacks)}
            """;

    /** Its name in Redis. */
    static final String SHA1 = sha1();

    private TakeScript() {}

    /** Whether an error is the fault of what another program has written at the key. Other keys may be in order. */
    static boolean isOfKey(String error) {
        return error.contains("WRONGTYPE") || error.contains("attempt to perform arithmetic");
    }

    private static String sha1() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-1");
            return HexFormat.of().formatHex(digest.digest(TEXT.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java runtime has SHA-1", e);
        }
    }
}
