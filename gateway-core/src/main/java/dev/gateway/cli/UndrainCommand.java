package dev.gateway.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Puts an endpoint of a running gateway back into service. */
@Command(
        name = "undrain",
        mixinStandardHelpOptions = true,
        description = "Puts an endpoint back into service that 'gateway drain' has taken out.",
        footerHeading = "%nExamples:%n",
        footer = {"  gateway undrain app 10.0.0.7:8080", "  gateway undrain --admin 10.0.0.7:9901 app 10.0.0.7:8080"})
final class UndrainCommand implements Callable<Integer> {
    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Mixin
    private final DrainCommand.EndpointArguments endpoint = new DrainCommand.EndpointArguments();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        return admin.act(endpoint.action("undrain"), "undrain", CommandSupport.out(spec), CommandSupport.err(spec));
    }
}
