package dev.gateway;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs to standard error, which leaves standard output to what was asked for. Found by Logback itself; in code because
 * reading XML takes longer than starting the rest. A {@code logback-test.xml} or {@code -Dlogback.configurationFile}
 * comes first.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_HIGH_PRIORITY)
public final class Logging extends ContextAwareBase implements Configurator {
    private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{0} - %msg%n";

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
        ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
        console.setContext(context);
        console.setTarget("System.err");
        console.setEncoder(encoder);
        console.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(console);
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.INFO);
        context.getLogger("io.netty").setLevel(Level.WARN);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Logs this and what is worse; of libraries, never more than warnings unless it is {@code DEBUG}. */
    static void level(org.slf4j.event.Level level) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            Level wanted = Level.convertAnSLF4JLevel(level);
            context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(wanted);
            if (!wanted.isGreaterOrEqual(Level.INFO) || wanted.isGreaterOrEqual(Level.WARN)) {
                context.getLogger("io.netty").setLevel(wanted);
            }
        }
    }
}
