package dev.gateway.format;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Blocks of addresses, such as those of trusted proxies: one binary search per question. Immutable. */
public final class CidrSet {
    /** Of two blocks that begin alike, the larger one comes first. */
    private static final Comparator<Cidr> ORDER = ((Comparator<Cidr>)
                    (a, b) -> Long.compareUnsigned(a.startHigh, b.startHigh))
            .thenComparing((a, b) -> Long.compareUnsigned(a.startLow, b.startLow))
            .thenComparing(Cidr::prefixLength);

    /** Holds no address. */
    public static final CidrSet EMPTY = new CidrSet(List.of());

    private final Cidr[] ipv4; // sorted, without overlaps
    private final Cidr[] ipv6; // the same

    private CidrSet(List<Cidr> blocks) {
        this.ipv4 = merged(blocks.stream().filter(Cidr::isIpv4));
        this.ipv6 = merged(blocks.stream().filter(block -> !block.isIpv4()));
    }

    /** Makes the union of blocks. */
    public static CidrSet of(List<Cidr> blocks) {
        return new CidrSet(blocks);
    }

    private static Cidr[] merged(Stream<Cidr> blocks) {
        List<Cidr> merged = new ArrayList<>();
        blocks.sorted(ORDER).forEach(block -> {
            Cidr last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            // Blocks either nest or are apart, so one that begins inside another ends inside it.
            if (last == null || !last.contains(block.startHigh, block.startLow)) {
                merged.add(block);
            }
        });
        return merged.toArray(Cidr[]::new);
    }

    /** Whether any block holds the address. */
    public boolean contains(InetAddress address) {
        if (isEmpty()) {
            return false;
        }
        byte[] bytes = address.getAddress();
        long high = Cidr.high(bytes);
        long low = Cidr.low(bytes);
        Cidr[] ranges = Cidr.isIpv4(high, low) ? ipv4 : ipv6;
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
        return ipv4.length == 0 && ipv6.length == 0;
    }
}
