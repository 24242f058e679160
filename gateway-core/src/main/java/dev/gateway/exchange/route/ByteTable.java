package dev.gateway.exchange.route;

import dev.gateway.message.Ascii;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A hash table looked up by bytes wherever they stand, so that no key is made. Its user computes the hash, maybe while
 * it scans, which makes looking up each of many prefixes or suffixes cheap. Filled once, then immutable. Requests
 * cannot make it slow: its keys are the operator's.
 */
final class ByteTable<V> {
    private final @Nullable AsciiString[] keys;
    private final int[] hashes;
    private final @Nullable Object[] values;
    private final int mask;
    private final int maxKeyLength;

    ByteTable(Map<AsciiString, V> entries, ToIntFunction<AsciiString> hash) {
        int capacity = Integer.highestOneBit(Math.max(4, entries.size() * 2)) << 1;
        keys = new @Nullable AsciiString[capacity];
        hashes = new int[capacity];
        values = new @Nullable Object[capacity];
        mask = capacity - 1;
        int longest = -1;
        for (Map.Entry<AsciiString, V> entry : entries.entrySet()) {
            int h = hash.applyAsInt(entry.getKey());
            int slot = slot(h);
            while (keys[slot] != null) {
                slot = (slot + 1) & mask;
            }
            keys[slot] = entry.getKey();
            hashes[slot] = h;
            values[slot] = entry.getValue();
            longest = Math.max(longest, entry.getKey().length());
        }
        maxKeyLength = longest;
    }

    private int slot(int hash) {
        int spread = hash * 0x9E3779B9;
        return (spread ^ spread >>> 16) & mask;
    }

    /** Returns the length of the longest key, -1 if there is none. */
    int maxKeyLength() {
        return maxKeyLength;
    }

    /** Returns the value of the key that these bytes are, case as it is, or null. */
    @Nullable
    V get(int hash, byte[] bytes, int start, int length) {
        return find(hash, bytes, start, length, false);
    }

    /** Returns the value of the lower-case key that these bytes are, in upper or lower case, or null. */
    @Nullable
    V getIgnoringCase(int hash, byte[] bytes, int start, int length) {
        return find(hash, bytes, start, length, true);
    }

    @SuppressWarnings("unchecked") // only values of type V are put in
    private @Nullable V find(int hash, byte[] bytes, int start, int length, boolean ignoreCase) {
        int slot = slot(hash);
        for (AsciiString key = keys[slot]; key != null; key = keys[slot]) {
            if (hashes[slot] == hash && key.length() == length && equal(key, bytes, start, ignoreCase)) {
                return (V) values[slot];
            }
            slot = (slot + 1) & mask;
        }
        return null;
    }

    private static boolean equal(AsciiString key, byte[] bytes, int start, boolean ignoreCase) {
        byte[] own = key.array();
        int offset = key.arrayOffset();
        if (ignoreCase) {
            return Ascii.equalsLower(bytes, start, key.length(), key);
        }
        return Arrays.equals(own, offset, offset + key.length(), bytes, start, start + key.length());
    }
}
