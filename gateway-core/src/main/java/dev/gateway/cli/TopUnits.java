package dev.gateway.cli;

import java.util.Locale;

/** Numbers as a narrow terminal shows them: sizes, times, durations. */
final class TopUnits {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

    private TopUnits() {}

    static String decimal(double value) {
        return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%.0f", value);
    }

    static String bytes(double bytes) {
        int unit = 0;
        double value = bytes;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, UNITS[unit]);
    }

    static String time(double seconds) {
        return seconds <= 0
                ? "-"
                : seconds < 0.001
                        ? String.format(Locale.ROOT, "%.0f µs", seconds * 1e6)
                        : seconds < 1
                                ? String.format(Locale.ROOT, "%.1f ms", seconds * 1e3)
                                : String.format(Locale.ROOT, "%.1f s", seconds);
    }

    static String duration(double seconds) {
        long whole = (long) seconds;
        return whole < 60
                ? whole + "s"
                : whole < 3600
                        ? whole / 60 + "m" + whole % 60 + "s"
                        : whole < 86_400
                                ? whole / 3600 + "h" + whole % 3600 / 60 + "m"
                                : whole / 86_400 + "d" + whole % 86_400 / 3600 + "h";
    }
}
