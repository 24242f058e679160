package dev.gateway.runtime.process;

/** Build information: what is known of the build that runs. */
public final class BuildInfo {
    private BuildInfo() {}

    /** Returns the version of the build, {@code dev} if it does not come from one. */
    public static String version() {
        String version = BuildInfo.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }
}
