package dev.gateway.cli;

import dev.gateway.runtime.process.log.Logging;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command line. Each command is a class of its own, and returns the exit code of the process. */
@Command(
        name = "gateway",
        mixinStandardHelpOptions = true,
        versionProvider = VersionCommand.class,
        description = "An asynchronous reverse proxy and tunneling gateway.",
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nExamples:%n",
        footer = {
            "  gateway demo                             try it with a demo upstream",
            "  gateway validate config/quickstart.yaml  find every mistake in a file",
            "  gateway run gateway.yaml                 run the gateway",
            "  gateway top                              see what a running gateway does",
            "",
            "'gateway COMMAND --help' tells more about each."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done, or stopped by a signal or POST /quit after draining",
            "1:the configuration is invalid, and nothing was started or changed; or the gateway is not healthy,"
                    + " is not there, or refuses",
            "2:the command line is wrong",
            "3:the gateway could not start, such as when a port is taken",
            "4:of validate, print-config and explain: filters of plugins were not checked, name their directory by --plugins",
            "70:an error in the gateway itself"
        },
        subcommands = {
            RunCommand.class,
            DemoCommand.class,
            HealthcheckCommand.class,
            StatsCommand.class,
            TopCommand.class,
            ExplainCommand.class,
            ReloadCommand.class,
            DrainCommand.class,
            UndrainCommand.class,
            PrepareCommand.class,
            ValidateCommand.class,
            PrintConfigCommand.class,
            SchemaCommand.class,
            VersionCommand.class,
            AutoComplete.GenerateCompletion.class,
            CommandLine.HelpCommand.class
        })
public final class Main implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    private Main() {}

    /** Runs a command and ends the process with its exit code, whatever happens: threads of a gateway would keep it alive. */
    public static void main(String[] args) {
        int code = CommandSupport.INTERNAL_ERROR;
        try {
            code = run(args);
            Logging.flush();
        } finally {
            System.exit(code);
        }
    }

    private static int run(String[] args) {
        try {
            setJvmDefaults();
            Logging.useInThisProcess();
            Callable<Integer> plain = plain(args);
            return plain == null ? commandLine().execute(args) : plain.call();
        } catch (Exception | Error e) {
            return CommandErrors.internal(e, CommandSupport.err(null));
        }
    }

    /**
     * Returns a command that must begin quickly, if it is written in the plain form, else null: picocli takes as long to
     * load as all the rest, because its class files are too old for the JVM to archive them.
     */
    static @Nullable Callable<Integer> plain(String[] args) {
        return switch (args.length == 0 ? "" : args[0]) {
            case "run" -> RunCommand.plain(args);
            case "prepare" -> PrepareCommand.plain(args);
            case "healthcheck" -> HealthcheckCommand.plain(args);
            default -> null;
        };
    }

    /**
     * Sets system properties that keep the process small, its start quick and its event loops awake. What the operator has
     * set wins. To be called before anything of Netty is loaded.
     */
    static void setJvmDefaults() {
        // An event for each buffer: the first one loads all of the flight recorder, which takes 200 ms and 10 MiB.
        byDefault("io.netty.jfr.enabled", "false");
        // It only has to tell channels of this process apart, not to be made of all network interfaces.
        byDefault("io.netty.machineId", "02:00:00:00:00:01");
        // One buffer in 128 is followed, with a stack trace for each: 2 to 3 % of a small request's CPU time.
        byDefault("io.netty.leakDetection.level", "disabled");
        // With it, and the Add-Opens of our manifest, Netty counts direct memory by itself: see
        // overload.memory.DirectMemory.
        byDefault("io.netty.tryReflectionSetAccessible", "true");
    }

    private static void byDefault(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpWidth(100)
                .setExecutionStrategy(CommandErrors::execute)
                .setParameterExceptionHandler(CommandErrors::usage)
                .setExecutionExceptionHandler(
                        (failure, command, parsed) -> CommandErrors.internal(failure, command.getErr()));
    }

    @Override
    public Integer call() {
        if (spec != null) {
            spec.commandLine().usage(spec.commandLine().getErr());
        }
        return CommandSupport.USAGE;
    }
}
