package dev.gateway.net.transport;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The version of a Linux kernel, for what can only be told by it. */
record KernelVersion(int major, int minor) {
    private static final Pattern RELEASE = Pattern.compile("(\\d{1,5})\\.(\\d{1,5}).*");

    /** Returns that of the kernel that runs here. */
    static KernelVersion current() {
        return parse(System.getProperty("os.version", ""));
    }

    /**
     * Reads a release as uname tells it.
     *
     * @param release such as {@code 6.17.3-generic}; what does not look like one is older than any version
     */
    static KernelVersion parse(String release) {
        Matcher matcher = RELEASE.matcher(release);
        return matcher.matches()
                ? new KernelVersion(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)))
                : new KernelVersion(0, 0);
    }

    boolean isAtLeast(int wantedMajor, int wantedMinor) {
        return major > wantedMajor || (major == wantedMajor && minor >= wantedMinor);
    }
}
