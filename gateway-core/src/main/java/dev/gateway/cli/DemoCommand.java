package dev.gateway.cli;

import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.demo.DemoUpstream;
import dev.gateway.runtime.process.ProcessEnvironment;
import dev.gateway.runtime.process.Systemd;
import dev.gateway.runtime.process.log.Logging;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.BindException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Serves the quickstart configuration in front of an upstream in the same process. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description = {
            "Starts a demo upstream with a gateway in front of it, and prints what to try.",
            "Stores a self-signed certificate in .gateway of the working directory."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gateway demo",
            "  gateway demo --config my.yaml   with your own listeners and routes to 127.0.0.1:9000"
        })
final class DemoCommand implements Callable<Integer> {
    private static final String QUICKSTART = "/config/quickstart.yaml";

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description = "Configuration file (YAML). Default: the embedded config/quickstart.yaml")
    private @Nullable Path file;

    @Option(
            names = "--upstream-port",
            paramLabel = "PORT",
            defaultValue = "9000",
            description = "Port of the demo upstream on 127.0.0.1. Default: ${DEFAULT-VALUE}")
    private int upstreamPort;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            description = "error, warn, info, debug or trace. Default: info")
    private @Nullable Level level;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (level != null) {
            Logging.level(level);
        }
        PrintWriter out = CommandSupport.out(spec);
        PrintWriter err = CommandSupport.err(spec);
        GatewayConfig config = CommandSupport.report(file == null ? quickstart() : ConfigLoader.load(file), err);
        if (config == null) {
            return CommandSupport.INVALID_CONFIG;
        }
        if (upstreamPort < 0 || upstreamPort > 65535) {
            err.println("--upstream-port: expected a port from 0 to 65535, not " + upstreamPort);
            return CommandSupport.USAGE;
        }
        DemoUpstream upstream;
        try {
            upstream = DemoUpstream.start(upstreamPort);
        } catch (Exception e) { // Netty throws what it does not declare
            if (e instanceof BindException) {
                err.println(
                        "cannot start: port " + upstreamPort + " of 127.0.0.1, which the demo upstream needs, is taken:"
                                + " stop what listens there, or choose another port with --upstream-port and a --config whose"
                                + " upstream has it");
                return CommandSupport.CANNOT_START;
            }
            throw e;
        }
        try (upstream) {
            return RunCommand.serve(
                    new CompletableFuture<>(),
                    () -> Gateway.start(
                            config,
                            GatewayOptions.defaults()
                                    .withEnvironment(ProcessEnvironment.own(Systemd.NONE, Logging.own()))),
                    err,
                    gateway -> invite(config, gateway, upstream, out));
        }
    }

    private static LoadResult quickstart() throws IOException {
        try (InputStream in = DemoCommand.class.getResourceAsStream(QUICKSTART)) {
            if (in == null) {
                throw new IOException("this build lacks " + QUICKSTART);
            }
            return ConfigLoader.parse("config/quickstart.yaml", in.readAllBytes(), Path.of(""), System.getenv());
        }
    }

    private static void invite(GatewayConfig config, Gateway gateway, DemoUpstream upstream, PrintWriter out) {
        Map<String, String> urls = new LinkedHashMap<>();
        out.println();
        for (ListenerConfig listener : config.listeners()) {
            if (listener.bind().unix() != null) {
                continue;
            }
            boolean tls = listener.protocols().protocol() == ListenerConfig.Protocol.HTTPS;
            String url = (tls ? "https" : "http") + "://localhost:" + gateway.port(listener.name());
            urls.putIfAbsent(tls ? "HTTP/2 over TLS" : "HTTP/1.1", url);
            String curl = tls ? "curl -k" : "curl";
            out.println((tls ? "HTTP/2 and HTTP/1.1 over TLS" : "HTTP/1.1 and h2c") + ": " + url);
            out.println("  in a browser   " + url + "/tiles?latency=100" + (tls ? "   (accept the certificate)" : ""));
            out.println("  in a shell     " + curl + " " + url + "/headers");
            out.println("                 " + curl + " -d hello " + url + "/echo");
            out.println("                 " + curl + " -N " + url + "/sse");
            if (!tls) {
                out.println("                 curl --http2-prior-knowledge " + url + "/bytes/1000000 -o /dev/null -v");
            }
        }
        upstream.isReachedBy(urls);
        if (gateway.adminUrl() != null) {
            out.println("Dashboard:  " + gateway.adminUrl() + "dashboard");
            out.println("Statistics: " + gateway.adminUrl() + "stats");
        }
        out.println("The upstream behind it: http://127.0.0.1:" + upstream.port() + "/");
        out.println("Stop with Ctrl-C.");
        out.println();
        out.flush();
    }
}
