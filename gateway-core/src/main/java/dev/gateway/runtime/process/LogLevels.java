package dev.gateway.runtime.process;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Log levels at run time: changes what is logged while the process runs, for good or for some time. Safe from any thread.
 */
public interface LogLevels {
    /** Returns the loggers that have a level of their own. */
    Map<String, String> levels();

    /**
     * Sets the level of a logger and of all below that have none of their own.
     *
     * @param level error, warn, info, debug, trace or off; inherit to have that of the logger above
     * @param time after which the level goes back to what it was; null to stay
     * @return what came of it, for people
     * @throws IllegalArgumentException if there is no such level, or the name is none
     */
    String set(String logger, String level, @Nullable Duration time);
}
