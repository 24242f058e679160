package dev.gateway.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Collects what one logger logs, until it is closed. Any thread may log and read. Closing gives the logger its former level
 * and its output back.
 */
public final class LoggedLines implements AutoCloseable {
    private final Logger logger;
    private final @Nullable Level level;
    private final boolean additive;
    private final BlockingQueue<ILoggingEvent> lines = new LinkedBlockingQueue<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent line) {
            lines.add(line);
        }
    };

    private LoggedLines(String name) {
        logger = (Logger) LoggerFactory.getLogger(name);
        level = logger.getLevel();
        additive = logger.isAdditive();
        appender.start();
        logger.addAppender(appender);
    }

    /** Collects what a logger of this name logs. */
    public static LoggedLines of(String name) {
        return new LoggedLines(name);
    }

    /** Collects what a class logs. */
    public static LoggedLines of(Class<?> type) {
        return of(type.getName());
    }

    /** Has the logger log from this level on. */
    public LoggedLines from(Level least) {
        logger.setLevel(least);
        return this;
    }

    /** Has nobody else see the lines, such as those of a failure that the test provokes. */
    public LoggedLines unseen() {
        logger.setAdditive(false);
        return this;
    }

    /** Returns what has been logged and not been taken by {@link #next}. */
    public List<ILoggingEvent> all() {
        return List.copyOf(lines);
    }

    /** Returns the texts of {@link #all}. */
    public List<String> messages() {
        return all().stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    /** Returns the texts of the warnings among {@link #all}. */
    public List<String> warnings() {
        return all().stream()
                .filter(line -> line.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    /** Waits for the next line, and takes it. */
    public ILoggingEvent next() throws InterruptedException {
        return Objects.requireNonNull(lines.poll(30, TimeUnit.SECONDS), "nothing is logged");
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setAdditive(additive);
        logger.setLevel(level);
    }
}
