package dev.gateway.runtime;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that does the gateway's own work again and again. Work that fails once, for want of memory for example, is
 * logged and done again at its time. The JDK's executor would never do it again: overload, once seen, would last for ever.
 */
final class Housekeeping extends ScheduledThreadPoolExecutor {
    private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);

    Housekeeping() {
        super(1, task -> {
            Thread thread = new Thread(task, "housekeeping");
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
        return super.scheduleWithFixedDelay(() -> survive(task), first, delay, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
        return super.scheduleAtFixedRate(() -> survive(task), first, period, unit);
    }

    private static void survive(Runnable task) {
        try {
            task.run();
        } catch (Throwable failure) {
            tell(failure);
        }
    }

    private static void tell(Throwable failure) {
        try {
            log.error("A periodic task failed; the gateway will run it again", failure);
        } catch (OutOfMemoryError e) {
            // There is not even memory to say so.
        }
    }
}
