package dev.gateway.cli;

import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.GatewayConfig;
import dev.gateway.files.StartException;
import dev.gateway.runtime.ConfigFile;
import dev.gateway.runtime.process.ProcessEnvironment;
import dev.gateway.runtime.process.Signals;
import dev.gateway.runtime.process.Systemd;
import dev.gateway.runtime.process.log.Logging;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Serves until a signal comes. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        description = {
            "Runs the gateway until SIGTERM, SIGINT or POST /quit. Then it drains and exits with code 0.",
            "Reloads the configuration when a file of it changes, on SIGHUP and on POST /reload. A configuration",
            "that is invalid, or needs a port that is taken, changes nothing.",
            "Logs go to standard error, access logs to standard output."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gateway run gateway.yaml",
            "  gateway run --config /etc/gateway/gateway.yaml --log-level warn > access.log"
        })
final class RunCommand implements Callable<Integer> {
    private static final Logger log = LoggerFactory.getLogger(RunCommand.class);
    private static final int START_PATIENCE_SECONDS = 5; // once a signal has come

    @Mixin
    private ConfigFileCommand.FileArgument argument = new ConfigFileCommand.FileArgument();

    @Option(
            names = "--plugins",
            paramLabel = "DIR",
            description = "Directory of plugins. Default: plugins beside the configuration, if it exists")
    private @Nullable Path plugins;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            description = "error, warn, info, debug or trace. Default: info")
    private @Nullable Level level;

    @Option(names = "--log-format", paramLabel = "FORMAT", description = "text or json. Default: text")
    private Logging.Format format = Logging.Format.TEXT;

    @Spec
    private @Nullable CommandSpec spec;

    /** Returns the command if it is written plainly, each option followed by its value; else null. */
    static @Nullable RunCommand plain(String[] args) {
        RunCommand command = new RunCommand();
        Path file = null;
        for (int i = 1; i < args.length; i++) {
            boolean named = args[i].startsWith("-");
            String option = named ? args[i] : "--config";
            if (named && ++i == args.length) {
                return null;
            }
            String value = args[i];
            boolean understood =
                    switch (option) {
                        case "-c", "--config" -> file == null && !value.startsWith("-");
                        case "--plugins" -> {
                            command.plugins = Path.of(value);
                            yield !value.isEmpty();
                        }
                        case "--log-level" -> (command.level = level(value)) != null;
                        case "--log-format" -> value.equals("text") || value.equals("json");
                        default -> false;
                    };
            if (!understood) {
                return null;
            }
            if (option.endsWith("c") || option.endsWith("config")) {
                file = Path.of(value);
            } else if (option.equals("--log-format")) {
                command.format = value.equals("json") ? Logging.Format.JSON : Logging.Format.TEXT;
            }
        }
        if (file == null) {
            return null;
        }
        command.argument = new ConfigFileCommand.FileArgument(file);
        return command;
    }

    private static @Nullable Level level(String name) {
        return Arrays.stream(Level.values())
                .filter(level -> level.name().equalsIgnoreCase(name))
                .findFirst()
                .orElse(null);
    }

    @Override
    public Integer call() {
        if (level != null) {
            Logging.level(level);
        }
        Logging.format(format);
        PrintWriter err = CommandSupport.err(spec);
        Path file = argument.get();
        if (file == null) {
            CommandSupport.tell(argument.problem("run"), err);
            return CommandSupport.USAGE;
        }
        ConfigFile source = ConfigFile.ofProcess(file, plugins);
        try {
            GatewayConfig config = CommandSupport.report(source.load(), err);
            if (config == null) {
                return CommandSupport.INVALID_CONFIG;
            }
            CompletableFuture<@Nullable Gateway> starting = new CompletableFuture<>();
            Gateway.listenToSignals(starting); // before anybody can know that it serves
            return serve(starting, () -> Gateway.start(config, options(source)), err, Gateway::tellReady);
        } finally {
            source.close(); // also if there has been no gateway that did it
        }
    }

    private static GatewayOptions options(ConfigFile source) throws StartException {
        return GatewayOptions.defaults()
                .withFile(source)
                .withEnvironment(ProcessEnvironment.own(systemd(), Logging.own()));
    }

    private static Systemd systemd() throws StartException {
        return Systemd.of(System.getenv(), ProcessHandle.current().pid());
    }

    /** What starts a gateway. */
    interface Start {
        Gateway start() throws StartException;
    }

    /** What is done once the gateway serves. */
    interface Started {
        void on(Gateway gateway);
    }

    /**
     * Serves until it is told to stop; by a signal, it does not return.
     *
     * @param starting completes with the gateway that has started, with null if it cannot
     */
    static int serve(CompletableFuture<@Nullable Gateway> starting, Start start, PrintWriter err, Started started) {
        // The JVM would print to System.err, which may block.
        Thread.setDefaultUncaughtExceptionHandler(
                (thread, failure) -> log.error("Thread {} failed", thread.getName(), failure));
        AtomicBoolean failed = new AtomicBoolean();
        drainOnSignal(starting, failed::get); // before anybody can know that it serves
        Gateway gateway;
        try {
            gateway = start.start();
            starting.complete(gateway);
        } catch (StartException e) {
            CommandSupport.tell("cannot start: " + e.getMessage(), err);
            return CommandSupport.CANNOT_START;
        } finally {
            starting.complete(null); // unless it has started
        }
        try {
            started.on(gateway);
            awaitStopped(gateway, err);
            return CommandSupport.OK;
        } catch (RuntimeException | Error e) {
            failed.set(true);
            throw e;
        }
    }

    /**
     * Waits for the end. If the gateway is broken, ends the process whatever else fails: somebody may have overwritten the
     * jar, so that no more class can be loaded.
     */
    private static void awaitStopped(Gateway gateway, PrintWriter err) {
        try {
            gateway.awaitStopped();
        } catch (IllegalStateException e) {
            try {
                CommandSupport.tell(String.valueOf(e.getMessage()), err);
                Logging.flush();
            } finally {
                Runtime.getRuntime().halt(CommandSupport.INTERNAL_ERROR);
            }
        }
    }

    /**
     * Drains when the process is told to end, as by SIGTERM, and ends it with exit code 0. A JVM that a signal ends
     * exits with 143 unless a hook halts it first; the alternative, {@code sun.misc.Signal}, is not part of the platform.
     * A second signal ends the process at once.
     *
     * @param starting completes with the gateway once it has started, with null if it cannot: a signal that comes
     *     earlier waits for that, for a moment
     * @param failed whether an error ends the process: then nothing drains, and the exit code stays what it is
     */
    private static void drainOnSignal(CompletableFuture<@Nullable Gateway> starting, BooleanSupplier failed) {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            if (failed.getAsBoolean()) {
                                return;
                            }
                            Signals.endAtOnce(Logging::flush);
                            Gateway gateway = awaitStart(starting);
                            if (gateway != null) {
                                gateway.drain();
                                Logging.flush();
                                Runtime.getRuntime().halt(0);
                            }
                        },
                        "drain"));
    }

    /** Returns null if there is nothing to drain, or a start takes so long that it may never end. */
    private static @Nullable Gateway awaitStart(CompletableFuture<@Nullable Gateway> starting) {
        try {
            return starting.get(START_PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            log.warn("Told to stop while starting");
            Logging.flush();
            return null;
        } catch (InterruptedException | ExecutionException e) {
            return null;
        }
    }
}
