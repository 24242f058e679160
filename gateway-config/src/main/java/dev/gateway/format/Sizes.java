package dev.gateway.format;

import java.util.List;

/** Sizes in bytes, as people read them. */
public final class Sizes {
    /** Binary units, each 1024 times the one before. */
    public static final List<String> UNITS = List.of("B", "KiB", "MiB", "GiB", "TiB");

    private Sizes() {}

    /** Returns a number with the largest unit of which it is a multiple, such as {@code 10MiB}. */
    public static String print(long bytes) {
        int unit = 0;
        long amount = bytes;
        while (amount > 0 && amount % 1024 == 0 && unit < UNITS.size() - 1) {
            amount /= 1024;
            unit++;
        }
        return amount + UNITS.get(unit);
    }
}
