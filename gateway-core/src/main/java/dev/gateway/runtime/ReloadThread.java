package dev.gateway.runtime;

import dev.gateway.files.StartException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reload thread. The one thread that changes what is active: the start and each reload run on it, and so do changes of
 * endpoints that DNS or a file tells. It also ends what a reload has replaced. It may block, and then new endpoints wait.
 * It drops tasks that arrive after its end.
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
    private volatile boolean finished; // only the thread sets it
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
            if (isOver()) {
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
                        if (!isOver()) {
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

    /** Whether nothing may change any more. A reload that hung asks before it changes anything. */
    boolean isOver() {
        return finished || hangs;
    }

    /** Lets the running task end, unless it hangs, and starts no other that would change the active configuration. */
    void finish() {
        try {
            executor.submit(() -> finished = true).get(patienceMillis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            onHang();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the interrupting thread wants an end
        } catch (CancellationException | ExecutionException e) {
            throw new IllegalStateException(e); // it only sets a field, and the thread lives
        }
    }

    private void onHang() {
        hangs = true;
        log.warn(
                "A reload, or a look at files, takes longer than {} ms: stopping without waiting for it",
                patienceMillis);
    }

    /**
     * Runs a task on the thread and waits for its end. If the thread hangs, the task runs only if the thread continues before it
     * is stopped.
     *
     * @param task does not fail
     */
    void runLast(Runnable task) {
        CompletableFuture<Void> done = CompletableFuture.runAsync(task, executor);
        if (!hangs && !ListenerShutdown.await(done, TimeUnit.MILLISECONDS.toNanos(patienceMillis))) {
            if (done.isDone()) {
                done.join(); // throws why it failed
            }
            onHang();
        }
    }

    void stop() {
        executor.shutdownNow();
    }
}
