package dev.gateway;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.ConfigPrinter;
import dev.gateway.config.yaml.ConfigSchema;
import io.netty.util.Version;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command line. Each command is a class of its own, and returns the exit code of the process. */
@Command(
        name = "gateway",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Versions.class,
        description = "An asynchronous reverse proxy and tunnelling gateway.",
        synopsisSubcommandLabel = "COMMAND",
        footerHeading = "%nExamples:%n",
        footer = {
            "  gateway demo                             try it, with an upstream of its own",
            "  gateway validate config/quickstart.yaml  find every mistake in a file",
            "  gateway run gateway.yaml                 serve",
            "  gateway top                              see what a running gateway does",
            "",
            "'gateway COMMAND --help' tells more about each."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done, or stopped by a signal or POST /quit after draining",
            "1:the configuration is invalid, and nothing was started; or the gateway is not healthy, or not there",
            "2:the command line is wrong",
            "3:the gateway could not start, such as when a port is taken",
            "70:an error in the gateway itself"
        },
        subcommands = {
            RunCommand.class,
            DemoCommand.class,
            HealthcheckCommand.class,
            StatsCommand.class,
            TopCommand.class,
            ExplainCommand.class,
            PrepareCommand.class,
            Main.Validate.class,
            Main.PrintConfig.class,
            Main.Schema.class,
            Main.ShowVersion.class,
            AutoComplete.GenerateCompletion.class,
            CommandLine.HelpCommand.class
        })
public final class Main implements Callable<Integer> {
    static final int OK = 0;
    static final int INVALID_CONFIG = 1;
    static final int UNAVAILABLE = 1;
    static final int USAGE = 2;
    static final int CANNOT_START = 3;
    static final int INTERNAL_ERROR = 70;

    @Spec
    private @Nullable CommandSpec spec;

    private Main() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String[] args) {
        Footprint.apply();
        Callable<Integer> plain = plain(args);
        int code = plain == null ? commandLine().execute(args) : run(plain);
        Logging.flush();
        System.exit(code);
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

    private static int run(Callable<Integer> command) {
        try {
            return command.call();
        } catch (Exception e) {
            e.printStackTrace(); // as picocli would
            return INTERNAL_ERROR;
        }
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpWidth(100)
                .setExecutionStrategy(UsageErrors::execute)
                .setParameterExceptionHandler(UsageErrors::tell)
                .setExitCodeExceptionMapper(e -> e instanceof CommandLine.ParameterException ? USAGE : INTERNAL_ERROR);
    }

    @Override
    public Integer call() {
        if (spec != null) {
            spec.commandLine().usage(spec.commandLine().getErr());
        }
        return USAGE;
    }

    /**
     * Reads a configuration and prints what is wrong with it, one line each.
     *
     * @return null if it cannot be used
     */
    static @Nullable GatewayConfig load(Path file, PrintWriter err) {
        return report(ConfigLoader.load(file), err);
    }

    static @Nullable GatewayConfig report(LoadResult result, PrintWriter err) {
        result.problems().forEach(problem -> err.println(paint(problem)));
        err.flush();
        return result instanceof LoadResult.Valid valid ? valid.config() : null;
    }

    private static String paint(Problem problem) {
        if (!Terminal.STDERR_IS_COLOURED) {
            return problem.toString();
        }
        boolean error = problem.severity() == Problem.Severity.ERROR;
        String colour = error ? "\u001b[31m" : "\u001b[33m";
        String kind = error ? "error" : "warning";
        return "\u001b[1m" + problem.position() + ": " + colour + kind + ":\u001b[0m " + problem.message();
    }

    /** Tells what this is and what it runs on. */
    static final class Versions implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            Version netty = Version.identify().get("netty-common");
            return new String[] {
                "gateway " + Gateway.version(),
                "netty " + (netty == null ? "unknown" : netty.artifactVersion()),
                "java " + System.getProperty("java.vm.version") + " (" + System.getProperty("java.vm.name") + ")",
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch")
            };
        }
    }

    /** Finds mistakes. */
    @Command(
            name = "validate",
            mixinStandardHelpOptions = true,
            description = {
                "Finds every mistake in a configuration.",
                "Each is a line on standard error: file:line:col: message. Starts nothing."
            },
            footerHeading = "%nExamples:%n",
            footer = {"  gateway validate gateway.yaml", "  gateway validate gateway.yaml && systemctl reload gateway"})
    static final class Validate implements Callable<Integer> {
        @Mixin
        private final FileArgument argument = new FileArgument();

        @Spec
        private @Nullable CommandSpec spec;

        @Override
        public Integer call() {
            Path file = argument.get();
            if (file == null) {
                err(spec).println(FileArgument.MISSING);
                return USAGE;
            }
            if (load(file, err(spec)) == null) {
                return INVALID_CONFIG;
            }
            out(spec).println(file + " is valid");
            return OK;
        }
    }

    /** Prints what is in force. */
    @Command(
            name = "print-config",
            mixinStandardHelpOptions = true,
            description = {
                "Prints a configuration with every default.",
                "Variables are resolved, but values of text that hold one are masked, as secrets are."
            },
            footerHeading = "%nExamples:%n",
            footer = {"  gateway print-config gateway.yaml", "  TIER=gold gateway print-config gateway.yaml"})
    static final class PrintConfig implements Callable<Integer> {
        @Mixin
        private final FileArgument argument = new FileArgument();

        @Spec
        private @Nullable CommandSpec spec;

        @Override
        public Integer call() {
            Path file = argument.get();
            if (file == null) {
                err(spec).println(FileArgument.MISSING);
                return USAGE;
            }
            GatewayConfig config = load(file, err(spec));
            if (config == null) {
                return INVALID_CONFIG;
            }
            out(spec).print(ConfigPrinter.yaml(config));
            out(spec).flush();
            return OK;
        }
    }

    /** Prints the schema. */
    @Command(
            name = "schema",
            mixinStandardHelpOptions = true,
            description = {"Prints the JSON Schema of configurations.", "Editors complete and check keys by it."},
            footerHeading = "%nExamples:%n",
            footer = {
                "  gateway schema > gateway.schema.json",
                "  # then, as the first line of a configuration:",
                "  # yaml-language-server: $schema=gateway.schema.json"
            })
    static final class Schema implements Callable<Integer> {
        @Spec
        private @Nullable CommandSpec spec;

        @Override
        public Integer call() {
            out(spec).print(ConfigSchema.json());
            out(spec).flush();
            return OK;
        }
    }

    /** Prints versions. */
    @Command(
            name = "version",
            mixinStandardHelpOptions = true,
            description = "Prints the versions of the gateway and of what it runs on.",
            footerHeading = "%nExample:%n",
            footer = "  gateway version")
    static final class ShowVersion implements Callable<Integer> {
        @Spec
        private @Nullable CommandSpec spec;

        @Override
        public Integer call() {
            for (String line : new Versions().getVersion()) {
                out(spec).println(line);
            }
            return OK;
        }
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
