package dev.gateway.cli;

/**
 * JVM defaults: system properties that keep the process small, its start quick and its event loops awake. What the operator
 * has set wins.
 */
final class JvmDefaults {
    private JvmDefaults() {}

    /** To be called before anything of Netty is loaded. */
    static void apply() {
        // An event for each buffer: the first one loads all of the flight recorder, which takes 200 ms and 10 MiB.
        byDefault("io.netty.jfr.enabled", "false");
        // It only has to tell channels of this process apart, not to be made of all network interfaces.
        byDefault("io.netty.machineId", "02:00:00:00:00:01");
        // One buffer in 128 is followed, with a stack trace for each: 2 to 3 % of a small request's CPU time.
        byDefault("io.netty.leakDetection.level", "disabled");
        // With it, and the Add-Opens of our manifest, Netty counts direct memory by itself: see overload.DirectMemory.
        byDefault("io.netty.tryReflectionSetAccessible", "true");
    }

    private static void byDefault(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }
}
