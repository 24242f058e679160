package dev.gateway.filter.coding;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.github.luben.zstd.util.Native;
import org.jspecify.annotations.Nullable;

/**
 * The libraries of codings that the JDK does not know, with their native code. They are optional, and have native code for
 * some platforms only. No state.
 */
public final class CodecLibraries {
    private CodecLibraries() {}

    /**
     * Loads the library of the coding, if it has one. Call it before a filter uses the coding, and not on an event loop: it
     * reads files.
     *
     * @return what is missing, and what to do; null if the coding can be used
     */
    public static @Nullable String load(ContentCoding coding) {
        return switch (coding) {
            case GZIP, DEFLATE -> null;
            case BR -> loadBrotli();
            case ZSTD -> loadZstd();
        };
    }

    /** Loads brotli4j. It keeps the reason for which its native code cannot be loaded. */
    private static @Nullable String loadBrotli() {
        try {
            Throwable cause = Brotli4jLoader.getUnavailabilityCause();
            return cause == null ? null : unusable(ContentCoding.BR, cause);
        } catch (NoClassDefFoundError e) {
            return "'br' needs the library brotli4j: add com.aayushatharva.brotli4j:brotli4j to the class path";
        }
    }

    /** Loads zstd-jni. */
    private static @Nullable String loadZstd() {
        try {
            Native.load();
            return null;
        } catch (UnsatisfiedLinkError | ExceptionInInitializerError e) {
            return unusable(ContentCoding.ZSTD, e);
        } catch (NoClassDefFoundError e) {
            return "'zstd' needs the library zstd-jni: add com.github.luben:zstd-jni to the class path";
        }
    }

    private static String unusable(ContentCoding coding, Throwable cause) {
        String why = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
        return "'" + coding.token() + "' needs native code that cannot be loaded on this machine ("
                + System.getProperty("os.name") + ", " + System.getProperty("os.arch") + "): " + why
                + "; add it to the class path, or remove '" + coding.token() + "'";
    }
}
