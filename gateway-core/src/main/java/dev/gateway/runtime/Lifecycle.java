package dev.gateway.runtime;

import dev.gateway.config.DrainConfig;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.runtime.plugins.PluginSource;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lifecycle. A gateway drains once and stops once, however often it is requested. Safe from any thread but event loops.
 */
public final class Lifecycle {
    private static final Logger log = LoggerFactory.getLogger(Lifecycle.class);

    private static final long PLUGIN_PATIENCE_MILLIS = 5_000;

    private final DataPlane dataPlane;
    private final Listeners listeners;
    private final Generations generations;
    private final ReloadThread thread;
    private final ApplicationMeters meters;
    private final Metrics metrics;
    private final @Nullable ConfigFile file;
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.STARTING);
    private final CompletableFuture<Void> drained = new CompletableFuture<>();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private final CompletableFuture<Void> broken = new CompletableFuture<>(); // by the loss of an event loop

    /** How far a gateway has come. */
    public enum Phase {
        STARTING,
        SERVING,
        /** New work should go elsewhere, and from some moment on must. */
        DRAINING,
        /** No client is connected any more; the admin listener still serves. */
        DRAINED,
        STOPPED
    }

    /**
     * Makes it, before anything is started.
     *
     * @param file the configuration file, which {@link #stop} closes; null if there is none
     */
    public Lifecycle(
            DataPlane dataPlane,
            Listeners listeners,
            Generations generations,
            ReloadThread thread,
            ApplicationMeters meters,
            Metrics metrics,
            @Nullable ConfigFile file) {
        this.dataPlane = dataPlane;
        this.listeners = listeners;
        this.generations = generations;
        this.thread = thread;
        this.meters = meters;
        this.metrics = metrics;
        this.file = file;
    }

    /** Returns how far the gateway is; any thread may ask. */
    public Phase phase() {
        return Objects.requireNonNull(phase.get());
    }

    /** All listeners are bound. */
    public void onStarted() {
        dataPlane.transport().onLoopLost(() -> broken.complete(null));
        phase.compareAndSet(Phase.STARTING, Phase.SERVING);
    }

    /** Lets what runs finish within the limits of the configuration. Returns when it has, or has been ended. */
    public void drain() {
        if (!phase.compareAndSet(Phase.SERVING, Phase.DRAINING)) {
            drained.join();
            return;
        }
        long start = System.nanoTime(); // of which a reload that hangs takes a part
        thread.finish();
        DrainConfig limits = generations.required().config.drain();
        long timeout = limits.timeout().toNanos();
        long acceptFor = Math.min(limits.acceptFor().toNanos(), timeout);
        long acceptMillis = TimeUnit.NANOSECONDS.toMillis(acceptFor);
        listeners.announceClose(); // first: who reads of a drain may rely on it
        log.info(acceptMillis == 0 ? "Draining" : "Draining: accepting for {} ms more", acceptMillis);
        try {
            TimeUnit.NANOSECONDS.sleep(acceptFor);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the interrupting thread wants an end: stop waiting
        }
        long spent = System.nanoTime() - start;
        listeners.drain(timeout - spent, spent);
        onDrained();
    }

    /** Ends whatever runs, unless it is being drained already: then waits until it is. */
    public void close() {
        if (!phase.compareAndSet(Phase.SERVING, Phase.DRAINING)) {
            drained.join();
            return;
        }
        thread.finish();
        listeners.close();
        onDrained();
    }

    private void onDrained() {
        phase.set(Phase.DRAINED);
        drained.complete(null);
        log.info("Drained");
    }

    /** Stops what is left when all connections of clients have gone. */
    public void stop() {
        if (phase.getAndSet(Phase.STOPPED) == Phase.STOPPED) {
            stopped.join();
            return;
        }
        try {
            listeners.stop();
            meters.close();
            thread.runLast(generations::stop);
            dataPlane.stop();
            freePlugins();
            thread.stop();
            metrics.close();
            log.info("Stopped");
        } finally {
            drained.complete(null); // also if it never started
            stopped.complete(null);
        }
    }

    /** Frees plugins, now that no event loop runs any more. A plugin that does not end must not keep the process. */
    private void freePlugins() {
        thread.runLast(() -> {
            generations.freePlugins();
            if (file != null) {
                file.close();
            }
        });
        try {
            if (file != null && !PluginSource.awaitClosed(PLUGIN_PATIENCE_MILLIS)) {
                log.warn("A plugin takes longer than {} ms to close; stopping without it", PLUGIN_PATIENCE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the interrupting thread wants an end
        }
    }

    /**
     * Waits until everything has ended.
     *
     * @throws IllegalStateException if an event loop has ended, so that a part of all connections is never served again
     */
    public void awaitStopped() {
        CompletableFuture.anyOf(stopped, broken).join();
        if (broken.isDone()) {
            throw new IllegalStateException(
                    "an event loop has ended, and nobody serves its connections any more: the memory is used up, or"
                            + " somebody has overwritten the jar");
        }
    }
}
