package dev.gateway.cli;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.runtime.plugins.PluginSource;
import dev.gateway.runtime.process.log.Logging;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import picocli.CommandLine.Model.CommandSpec;

/** What commands have in common: exit codes, where they print, how they load a configuration. */
final class CommandSupport {
    static final int OK = 0;
    static final int INVALID_CONFIG = 1;
    static final int UNAVAILABLE = 1;
    static final int USAGE = 2;
    static final int CANNOT_START = 3;
    static final int NOT_ALL_CHECKED = 4;
    static final int INTERNAL_ERROR = 70;

    private CommandSupport() {}

    /**
     * Reads a configuration to look at it, and prints what is wrong with it, one line each. Runs no code that lies beside it.
     *
     * @param plugins the directory whose plugins are to be loaded; null to check no filter of a plugin
     * @return null if it cannot be used
     */
    static @Nullable GatewayConfig load(Path file, @Nullable Path plugins, PrintWriter err) {
        if (plugins == null) {
            FilterTypes types = PluginSource.hasJarsBeside(file)
                    ? FilterTypes.AND_UNCHECKED
                    : FilterTypes.BUILT_IN.withoutOthers(() -> PluginSource.absenceBeside(file));
            return report(ConfigLoader.load(file, System.getenv(), types), err);
        }
        try (PluginSource source = PluginSource.once(plugins)) {
            return report(source.load(file), err);
        }
    }

    /**
     * Reads the configuration of a running gateway for how to reach that. Prints what keeps it from being used, but not what
     * it warns of: the gateway has said that.
     *
     * @return null if it cannot be used
     */
    static @Nullable GatewayConfig loadToAsk(Path file, PrintWriter err) {
        LoadResult result = ConfigLoader.load(file, System.getenv(), FilterTypes.AND_IGNORED);
        return result instanceof LoadResult.Valid valid ? valid.config() : report(result, err);
    }

    /** Returns the exit code of a command that has looked at a configuration. */
    static int exitCode(GatewayConfig config) {
        return config.hasUncheckedFilters() ? NOT_ALL_CHECKED : OK;
    }

    static @Nullable GatewayConfig report(LoadResult result, PrintWriter err) {
        for (Problem problem : result.problems()) {
            if (Logging.isJson()) {
                log(problem.severity() == Problem.Severity.ERROR ? Level.ERROR : Level.WARN, problem.toString());
            } else {
                err.println(paint(problem));
            }
        }
        err.flush();
        return result instanceof LoadResult.Valid valid ? valid.config() : null;
    }

    /** Says why a command ends, in the log if a program reads that, else to people. */
    static void tell(String message, PrintWriter err) {
        try {
            if (Logging.isJson()) {
                log(Level.ERROR, message);
                return;
            }
            Logging.flush(); // what led to it comes first
        } catch (LinkageError e) {
            err.println("there is no log: " + e);
        }
        err.println(message);
        err.flush();
    }

    private static void log(Level level, String message) {
        LoggerFactory.getLogger(CommandSupport.class).atLevel(level).log(message);
    }

    private static String paint(Problem problem) {
        if (!Terminal.STDERR_IS_COLORED) {
            return problem.toString();
        }
        boolean error = problem.severity() == Problem.Severity.ERROR;
        String color = error ? "\u001b[31m" : "\u001b[33m";
        String kind = error ? "error" : "warning";
        return "\u001b[1m" + problem.position() + ": " + color + kind + ":\u001b[0m " + problem.message();
    }

    static PrintWriter out(@Nullable CommandSpec spec) {
        return spec == null
                ? new PrintWriter(System.out, true, StandardCharsets.UTF_8)
                : spec.commandLine().getOut();
    }

    static PrintWriter err(@Nullable CommandSpec spec) {
        return spec == null
                ? new PrintWriter(System.err, true, StandardCharsets.UTF_8)
                : spec.commandLine().getErr();
    }
}
