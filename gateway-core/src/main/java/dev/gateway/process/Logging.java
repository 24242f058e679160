package dev.gateway.process;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logging setup: logs to standard error, which leaves standard output to what was asked for. Found by Logback itself; in
 * code because reading XML takes longer than starting the rest. Nobody who logs waits for whoever reads it. A {@code
 * logback-test.xml} or {@code -Dlogback.configurationFile} comes first.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_HIGH_PRIORITY)
public final class Logging extends ContextAwareBase implements Configurator {
    /** Time and date as the access log writes them, so that lines of both can be put in order. */
    private static final String PATTERN = "%d{\"yyyy-MM-dd'T'HH:mm:ss.SSS'Z'\", UTC} %-5level %logger{0} - %msg%n";

    private static final long FLUSH_MILLIS = 1_000;

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        if (System.getProperty("logback.configurationFile") != null
                || Logging.class.getClassLoader().getResource("logback-test.xml") != null) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern(PATTERN);
        encoder.start();
        // Not System.err: whoever prints there would wait for a thread that waits for a reader.
        ProcessLog processLog = new ProcessLog(encoder, new FileOutputStream(FileDescriptor.err));
        processLog.setContext(context);
        processLog.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(processLog);
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.INFO);
        context.getLogger("io.netty").setLevel(Level.WARN);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
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
        }
    }

    /** Returns how many lines of the log were dropped because nobody read it. */
    public static long dropped() {
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
