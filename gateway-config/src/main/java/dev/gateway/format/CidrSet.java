package dev.gateway.format;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/** Blocks of addresses, such as those of trusted proxies: one binary search per question. Immutable. */
public final class CidrSet {
    /** Holds no address. */
    public static final CidrSet EMPTY = new CidrSet(List.of());

    private final Cidr[] ranges; // sorted, without overlaps

    private CidrSet(List<Cidr> ranges) {
        this.ranges = ranges.toArray(Cidr[]::new);
    }

    /** Makes the union of blocks. */
    public static CidrSet of(List<Cidr> blocks) {
        List<Cidr> sorted = new ArrayList<>(blocks);
        sorted.sort((a, b) -> a.startHigh != b.startHigh
                ? Long.compareUnsigned(a.startHigh, b.startHigh)
                : Long.compareUnsigned(a.startLow, b.startLow));
        List<Cidr> merged = new ArrayList<>();
        for (Cidr block : sorted) {
            Cidr last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            // Blocks either nest or are apart, so one that begins inside another ends inside it.
            if (last == null || !last.contains(block.startHigh, block.startLow)) {
                merged.add(block);
            }
        }
        return new CidrSet(merged);
    }

    /** Whether any block holds the address. */
    public boolean contains(InetAddress address) {
        if (ranges.length == 0) {
            return false;
        }
        byte[] bytes = address.getAddress();
        long high = Cidr.high(bytes);
        long low = Cidr.low(bytes);
        int first = 0;
        int end = ranges.length;
        while (first < end) { // finds the first range that ends at the address or behind it
            int middle = (first + end) >>> 1;
            Cidr range = ranges[middle];
            if (Cidr.isAtMost(high, low, range.endHigh, range.endLow)) {
                end = middle;
            } else {
                first = middle + 1;
            }
        }
        return first < ranges.length && ranges[first].contains(high, low);
    }

    /** Whether it holds no address. */
    public boolean isEmpty() {
        return ranges.length == 0;
    }
}
