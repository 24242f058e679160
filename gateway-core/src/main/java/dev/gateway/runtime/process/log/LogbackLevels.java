package dev.gateway.runtime.process.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import dev.gateway.format.Durations;
import dev.gateway.runtime.process.LogLevels;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Levels of Logback's loggers. */
final class LogbackLevels implements LogLevels {
    private static final org.slf4j.Logger log = LoggerFactory.getLogger(LogbackLevels.class);
    private static final int MAX_LOGGERS = 64; // of those that have a level of their own
    private static final String NAME = "[A-Za-z0-9_.$]{1,200}";

    private final ScheduledExecutorService timer;
    private final Map<String, Temporary> temporary = new HashMap<>();

    /** A level that holds for some time, and what goes back to then. */
    private record Temporary(@Nullable Level before, Future<?> end) {}

    /** Makes it; the timer ends levels that are set for some time. */
    LogbackLevels(ScheduledExecutorService timer) {
        this.timer = timer;
    }

    private static @Nullable LoggerContext context() {
        return LoggerFactory.getILoggerFactory() instanceof LoggerContext context ? context : null;
    }

    @Override
    public Map<String, String> levels() {
        Map<String, String> levels = new TreeMap<>();
        LoggerContext context = context();
        if (context != null) {
            for (Logger logger : context.getLoggerList()) {
                if (logger.getLevel() != null) {
                    levels.put(logger.getName(), logger.getLevel().toString().toLowerCase(Locale.ROOT));
                }
            }
        }
        return levels;
    }

    @Override
    public synchronized String set(String logger, String level, @Nullable Duration time) {
        LoggerContext context = context();
        if (context == null) {
            throw new IllegalArgumentException("this process does not log by Logback: its levels are set elsewhere");
        }
        boolean root = logger.equalsIgnoreCase(org.slf4j.Logger.ROOT_LOGGER_NAME);
        if (!logger.matches(NAME)) {
            throw new IllegalArgumentException("logger: expected a name such as dev.gateway.upstream.pool, or root");
        }
        if (logger.equals(LogbackProvider.WITH_PASSWORDS)) {
            throw new IllegalArgumentException("logger: its level is fixed, because it would print passwords");
        }
        Level wanted = level.equals("inherit") ? null : Level.toLevel(level, null);
        if (wanted == null && (root || !level.equals("inherit"))) {
            throw new IllegalArgumentException(
                    "level: expected error, warn, info, debug, trace or off" + (root ? "" : ", or inherit"));
        }
        Logger target = context.getLogger(root ? org.slf4j.Logger.ROOT_LOGGER_NAME : logger);
        if (target.getLevel() == null && wanted != null && levels().size() >= MAX_LOGGERS) {
            throw new IllegalArgumentException("too many loggers have a level of their own: let some inherit theirs");
        }
        Temporary former = temporary.remove(target.getName());
        Level before = former == null ? target.getLevel() : former.before;
        if (former != null) {
            former.end.cancel(false);
        }
        target.setLevel(wanted);
        String what = "logger " + target.getName() + ": " + level;
        if (time == null) {
            return what;
        }
        Future<?> end = timer.schedule(() -> goBack(target), time.toMillis(), TimeUnit.MILLISECONDS);
        temporary.put(target.getName(), new Temporary(before, end));
        return what + " for " + Durations.print(time);
    }

    private synchronized void goBack(Logger logger) {
        Temporary ended = temporary.remove(logger.getName());
        if (ended != null) {
            logger.setLevel(ended.before);
            log.info("Log level of {} is {} again", logger.getName(), logger.getEffectiveLevel());
        }
    }
}
