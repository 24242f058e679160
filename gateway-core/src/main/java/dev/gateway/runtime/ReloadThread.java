package dev.gateway.runtime;

import dev.gateway.files.StartException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reload thread. The one thread that changes the active configuration after the start: it reloads, and ends what a
 * reload has replaced. It may block. It drops tasks that arrive after its end.
 */
public final class ReloadThread {
    private static final Logger log = LoggerFactory.getLogger(ReloadThread.class);

    /** A change is noticed by one look, and read after another one that finds it unchanged. */
    private static final long LOOK_MILLIS = 1_000;

    static final String REFUSED = "the gateway is stopping";

    /** How long the end waits for a task that may hang, such as at a file of a network file system that does not answer. */
    private static final long PATIENCE_MILLIS = 15_000;

    private final ScheduledThreadPoolExecutor executor;
    private final long patienceMillis;
    private boolean finished; // of the thread
    private volatile boolean hangs;

    /** A task that fails if something is unavailable. */
    public interface Task {
        void run() throws StartException;
    }

    /** Makes it; the thread starts with the first task. */
    public ReloadThread() {
        this(PATIENCE_MILLIS);
    }

    /** Makes one whose end waits so long for a task that hangs. */
    ReloadThread(long patienceMillis) {
        this.patienceMillis = patienceMillis;
        executor = new ScheduledThreadPoolExecutor(
                1,
                task -> {
                    Thread thread = new Thread(task, "reload");
                    thread.setDaemon(true);
                    return thread;
                },
                (task, ended) -> {
                    if (task instanceof Future<?> future) {
                        future.cancel(false);
                    }
                });
        executor.setRemoveOnCancelPolicy(true);
    }

    /** Returns the thread, for what must not run beside a reload. */
    public ScheduledExecutorService executor() {
        return executor;
    }

    /**
     * Runs a task on the thread and waits for its end; other threads only.
     *
     * @throws StartException what the task throws, or if the gateway is stopping
     */
    public void run(Task task) throws StartException {
        Future<?> done = executor.submit(() -> {
            if (finished) {
                throw new StartException(REFUSED);
            }
            task.run();
            return null;
        });
        try {
            done.get();
        } catch (CancellationException e) {
            throw new StartException(REFUSED, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartException("interrupted during the reload", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StartException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Has somebody look at files from time to time from now on, as long as changes may be made. */
    public void look(Runnable look) {
        executor.scheduleWithFixedDelay(
                () -> {
                    try {
                        if (!finished) {
                            look.run();
                        }
                    } catch (Throwable e) { // else nobody would look again
                        log.error("A bug made a check of files fail", e);
                    }
                },
                LOOK_MILLIS,
                LOOK_MILLIS,
                TimeUnit.MILLISECONDS);
    }

    /** Whether nothing may change any more; on the thread. */
    boolean isFinished() {
        return finished;
    }

    /** Lets the running task end, and starts no other that would change the active configuration. */
    void finish() {
        runLast(() -> finished = true);
    }

    /**
     * Runs a task on the thread and waits for its end. If the thread hangs, the gateway stops without the task.
     *
     * @param task does not fail
     */
    void runLast(Runnable task) {
        CompletableFuture<Void> done = CompletableFuture.runAsync(task, executor);
        if (hangs) {
            return;
        }
        try {
            done.orTimeout(patienceMillis, TimeUnit.MILLISECONDS).join();
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof TimeoutException)) {
                throw e;
            }
            hangs = true;
            log.warn(
                    "A reload, or a look at files, takes longer than {} ms: stopping without waiting for it",
                    patienceMillis);
        }
    }

    void stop() {
        executor.shutdownNow();
    }
}
