package dev.gateway.runtime.process;

import java.util.concurrent.ScheduledExecutorService;

/** The log of the gateway's own process, as far as the gateway reports and changes it. Safe from any thread. */
public interface OwnLog {
    /** Returns how many lines were dropped because nobody read them. */
    long dropped();

    /**
     * Returns its levels.
     *
     * @param timer ends levels that are set for some time
     */
    LogLevels levels(ScheduledExecutorService timer);
}
