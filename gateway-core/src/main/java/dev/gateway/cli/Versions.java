package dev.gateway.cli;

import dev.gateway.runtime.process.BuildInfo;
import io.netty.util.Version;
import picocli.CommandLine;

/** The versions of the gateway, of Netty, Java and the system. */
final class Versions implements CommandLine.IVersionProvider {
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
