package dev.gateway.runtime.process.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Logback as our own process uses it: logs to standard error, which leaves standard output to what was asked for. Set up in
 * code, because reading XML takes longer than starting the rest. SLF4J makes it by its name, which only {@code
 * Logging.useInThisProcess} tells. No file of {@code META-INF/services} does, so a program that has these classes keeps its
 * own log.
 */
public final class LogbackProvider implements SLF4JServiceProvider {
    /** Time and date as the access log writes them, so that lines of both can be put in order. */
    private static final String PATTERN = "%d{\"yyyy-MM-dd'T'HH:mm:ss.SSS'Z'\", UTC} %-5level %logger{0} - %msg%n";

    /** A logger of Lettuce that would print the passwords of stores with {@code trace}. */
    static final String WITH_PASSWORDS = "io.lettuce.core.protocol.CommandEncoder";

    private static final String API = "2.0.99"; // of SLF4J, as Logback's own provider says it

    private final LoggerContext context = new LoggerContext();
    private final LogbackMDCAdapter mdc = new LogbackMDCAdapter();
    private final IMarkerFactory markers = new BasicMarkerFactory();

    @Override
    public void initialize() {
        context.setName("default");
        context.setMDCAdapter(mdc);
        configure();
        context.start();
    }

    private void configure() {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern(PATTERN);
        encoder.start();
        // Not System.err: a thread that prints there would wait for a thread that waits for a reader.
        ProcessLog processLog = new ProcessLog(encoder, new FileOutputStream(FileDescriptor.err));
        processLog.setContext(context);
        processLog.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(processLog);
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.INFO);
        context.getLogger("io.netty").setLevel(Level.WARN);
        context.getLogger(WITH_PASSWORDS).setLevel(Level.INFO); // of its own, so that it inherits none
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return context;
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return mdc;
    }

    @Override
    public String getRequestedApiVersion() {
        return API;
    }
}
