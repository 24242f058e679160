package dev.gateway.cli;

import dev.gateway.runtime.process.BuildInfo;
import io.netty.util.Version;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints the versions of the gateway, of Netty, Java and the system. */
@Command(
        name = "version",
        mixinStandardHelpOptions = true,
        description = "Prints the versions of the gateway, the JVM and the libraries.",
        footerHeading = "%nExample:%n",
        footer = "  gateway version")
final class VersionCommand implements Callable<Integer>, IVersionProvider {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        for (String line : getVersion()) {
            CommandSupport.out(spec).println(line);
        }
        return CommandSupport.OK;
    }

    @Override
    public String[] getVersion() {
        Version netty = Version.identify().get("netty-common");
        return new String[] {
            "gateway " + BuildInfo.version(),
            "netty " + (netty == null ? "unknown" : netty.artifactVersion()),
            "java " + System.getProperty("java.vm.version") + " (" + System.getProperty("java.vm.name") + ")",
            System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch")
        };
    }
}
