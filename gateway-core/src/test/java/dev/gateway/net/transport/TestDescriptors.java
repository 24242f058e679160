package dev.gateway.net.transport;

/** File descriptors of no process, for tests of those who run out of them. */
public final class TestDescriptors {
    private static final int OWN = 16; // for the admin listener and for surprises

    private TestDescriptors() {}

    /** Returns as many as anybody could want. */
    public static Descriptors unlimited() {
        return new Descriptors(0, () -> 0);
    }

    /** Returns so many for connections to upstreams; at least 4. */
    public static Descriptors upstreams(int count) {
        return new Descriptors(2L * count + OWN, () -> 0);
    }
}
