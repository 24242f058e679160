package dev.gateway.runtime.process.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import dev.gateway.runtime.process.LogLevels;
import dev.gateway.runtime.process.OwnLog;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The log of a process of our own: who sets it up, how it is written, and what of it is logged. Safe from any thread. */
public final class Logging {
    private static final long FLUSH_MILLIS = 1_000;

    private static volatile boolean json;

    private Logging() {}

    /**
     * Has SLF4J log by {@link LogbackProvider} in the whole process; to be called before the first logger is made. A {@code
     * logback-test.xml}, {@code -Dlogback.configurationFile} or {@code -Dslf4j.provider} comes first.
     */
    public static void useInThisProcess() {
        if (System.getProperty("logback.configurationFile") == null
                && System.getProperty("slf4j.provider") == null
                && Logging.class.getClassLoader().getResource("logback-test.xml") == null) {
            System.setProperty("slf4j.provider", LogbackProvider.class.getName());
            if (System.getProperty("slf4j.internal.verbosity") == null) {
                System.setProperty("slf4j.internal.verbosity", "WARN"); // else it would report the property
            }
        }
    }

    /** Returns the log of this process, for the gateway that is all of it. */
    public static OwnLog own() {
        return new OwnLog() {
            @Override
            public long dropped() {
                return Logging.dropped();
            }

            @Override
            public LogLevels levels(ScheduledExecutorService timer) {
                return new LogbackLevels(timer);
            }
        };
    }

    /** How lines are written. */
    public enum Format {
        TEXT,
        JSON
    }

    /** Writes lines so from now on; a file that configures Logback says itself how. */
    public static void format(Format format) {
        ProcessLog processLog = processLog();
        if (processLog != null && format == Format.JSON) {
            processLog.encodeBy(new JsonLogEncoder());
            json = true;
        }
    }

    /** Whether lines are JSON. Then a program reads them, and all else on standard error has to be JSON, too. */
    public static boolean isJson() {
        return json;
    }

    /** Returns how many lines of the log were dropped because nobody read it. */
    private static long dropped() {
        ProcessLog processLog = processLog();
        return processLog == null ? 0 : processLog.dropped();
    }

    /** Lets the last lines be written before the process ends; waits for a second at most. */
    public static void flush() {
        ProcessLog processLog = processLog();
        if (processLog != null) {
            processLog.flush(FLUSH_MILLIS);
        }
    }

    /** Returns the log that this class has set up; null if a file has configured another one. */
    private static @Nullable ProcessLog processLog() {
        return LoggerFactory.getILoggerFactory() instanceof LoggerContext context
                        && context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender(ProcessLog.NAME)
                                instanceof ProcessLog log
                ? log
                : null;
    }

    /** Logs this and what is worse; of libraries, never more than warnings unless it is {@code DEBUG}. */
    public static void level(org.slf4j.event.Level level) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            Level wanted = Level.convertAnSLF4JLevel(level);
            context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(wanted);
            if (!wanted.isGreaterOrEqual(Level.INFO) || wanted.isGreaterOrEqual(Level.WARN)) {
                context.getLogger("io.netty").setLevel(wanted);
            }
        }
    }
}
