package dev.gateway.status;

import dev.gateway.admin.AdminPages.Outcome;
import java.util.concurrent.CompletableFuture;

/** Operations: what an operator may ask a running gateway to do. Safe from any thread but event loops. */
public interface Operations {
    /**
     * Reads the configuration's file again and lets it take over, if it can.
     *
     * @param reason for the log
     */
    CompletableFuture<Outcome> reload(String reason);

    /** Stops accepting, finishes what runs, and ends everything; returns when all of it has ended. */
    void drain();

    /** Does the same but that the admin listener, and the process, stay. */
    void drainAndStay();
}
