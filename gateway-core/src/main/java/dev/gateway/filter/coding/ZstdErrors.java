package dev.gateway.filter.coding;

import com.github.luben.zstd.ZstdException;

/** Errors of zstd-jni. No state. */
public final class ZstdErrors {
    private ZstdErrors() {}

    /** Whether a call failed with this error; the sign of the code depends on the call. */
    public static boolean is(ZstdException e, long error) {
        return Math.abs(e.getErrorCode()) == error;
    }
}
