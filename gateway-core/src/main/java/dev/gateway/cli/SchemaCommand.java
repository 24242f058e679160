package dev.gateway.cli;

import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.config.yaml.ConfigSchema;
import dev.gateway.runtime.plugins.PluginSource;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints the JSON Schema of configurations. */
@Command(
        name = "schema",
        mixinStandardHelpOptions = true,
        description = {"Prints the JSON Schema of configurations.", "Editors use it to complete and check keys."},
        footerHeading = "%nExamples:%n",
        footer = {
            "  gateway schema > gateway.schema.json",
            "  # then, as the first line of a configuration:",
            "  # yaml-language-server: $schema=gateway.schema.json"
        })
final class SchemaCommand implements Callable<Integer> {
    @Option(
            names = "--plugins",
            paramLabel = "DIR",
            description = "Directory of plugins, whose filters the schema then has, too.")
    private @Nullable Path plugins;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        Path directory = plugins;
        if (directory == null) {
            return print(ConfigSchema.json());
        }
        try (PluginSource source = PluginSource.once(directory)) {
            return source.load(types -> print(ConfigSchema.json(types)), this::fail);
        }
    }

    private int print(String schema) {
        CommandSupport.out(spec).print(schema);
        CommandSupport.out(spec).flush();
        return CommandSupport.OK;
    }

    private int fail(List<Problem> problems) {
        CommandSupport.report(new LoadResult.Invalid(problems), CommandSupport.err(spec));
        return CommandSupport.INVALID_CONFIG;
    }
}
