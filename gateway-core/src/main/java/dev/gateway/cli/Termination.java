package dev.gateway.cli;

import dev.gateway.Gateway;
import dev.gateway.runtime.process.Signals;
import dev.gateway.runtime.process.log.Logging;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Graceful shutdown of the process when a signal ends it. */
final class Termination {
    private static final Logger log = LoggerFactory.getLogger(Termination.class);
    private static final int START_PATIENCE_SECONDS = 5; // once a signal has come

    private Termination() {}

    /**
     * Drains when the process is told to end, as by SIGTERM, and ends it with exit code 0. A JVM that a signal ends
     * exits with 143 unless a hook halts it first; the alternative, {@code sun.misc.Signal}, is not part of the platform.
     * A second signal ends the process at once.
     *
     * @param starting completes with the gateway once it has started, with null if it cannot: a signal that comes
     *     earlier waits for that, for a moment
     * @param failed whether an error ends the process: then nothing drains, and the exit code stays what it is
     */
    static void drainOnSignal(CompletableFuture<@Nullable Gateway> starting, BooleanSupplier failed) {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            if (failed.getAsBoolean()) {
                                return;
                            }
                            Signals.endAtOnce(Logging::flush);
                            Gateway gateway = awaitStart(starting);
                            if (gateway != null) {
                                gateway.drain();
                                Logging.flush();
                                Runtime.getRuntime().halt(0);
                            }
                        },
                        "drain"));
    }

    /** Returns null if there is nothing to drain, or a start takes so long that it may never end. */
    private static @Nullable Gateway awaitStart(CompletableFuture<@Nullable Gateway> starting) {
        try {
            return starting.get(START_PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            log.warn("Told to stop while starting");
            Logging.flush();
            return null;
        } catch (InterruptedException | ExecutionException e) {
            return null;
        }
    }
}
