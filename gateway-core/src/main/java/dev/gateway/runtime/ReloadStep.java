package dev.gateway.runtime;

import dev.gateway.files.StartException;

/**
 * Reload step: what one part of the gateway does when a generation takes over.
 *
 * @param prepare does all that can fail, without an effect on what is served; if it fails, it leaves nothing behind
 * @param commit makes the change, and cannot fail; all steps are prepared
 * @param undo gives back what was prepared, if a later step cannot be
 */
record ReloadStep(Preparation prepare, Runnable commit, Runnable undo) {
    /** What can fail. */
    interface Preparation {
        void run() throws StartException;
    }

    /** Returns one that leaves nothing to give back. */
    static ReloadStep of(Preparation prepare, Runnable commit) {
        return new ReloadStep(prepare, commit, () -> {});
    }

    /** Returns one that cannot fail. */
    static ReloadStep of(Runnable commit) {
        return new ReloadStep(() -> {}, commit, () -> {});
    }
}
