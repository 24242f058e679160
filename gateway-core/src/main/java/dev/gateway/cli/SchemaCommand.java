package dev.gateway.cli;

import dev.gateway.config.yaml.ConfigSchema;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
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
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        CommandSupport.out(spec).print(ConfigSchema.json());
        CommandSupport.out(spec).flush();
        return CommandSupport.OK;
    }
}
