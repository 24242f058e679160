package dev.gateway.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Has a running gateway read its configuration again, and tells what came of it. */
@Command(
        name = "reload",
        mixinStandardHelpOptions = true,
        description = {
            "Has a running gateway read its configuration again, and waits until that is done.",
            "Prints what has changed, with exit code 0. If the file has a mistake, it prints all of them",
            "with exit code 1, and the gateway keeps the configuration that it has."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  gateway reload", "  gateway reload --admin 10.0.0.7:9901 --token-file secrets/admin-token"})
final class ReloadCommand implements Callable<Integer> {
    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        return admin.act("/reload", "reload", CommandSupport.out(spec), CommandSupport.err(spec));
    }
}
