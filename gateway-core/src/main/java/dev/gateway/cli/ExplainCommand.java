package dev.gateway.cli;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.yaml.Json;
import dev.gateway.connect.LocalAddresses;
import dev.gateway.connect.OwnListeners;
import dev.gateway.status.explain.ExplainRequest;
import dev.gateway.status.explain.Explainer;
import dev.gateway.status.explain.Explanation;
import dev.gateway.status.explain.ExplanationText;
import dev.gateway.status.explain.LiveUpstreams;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Explains what would become of a request: by a configuration alone, or as a running gateway sees it. */
@Command(
        name = "explain",
        mixinStandardHelpOptions = true,
        description = {
            "Explains what the gateway would do with a request, and which lines of the configuration decide.",
            "Of a running gateway it also shows the endpoints as they are now, and which of them gets the request.",
            "With --config and without --admin or --live it reads the file only; no gateway needs to run."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gateway explain --config gateway.yaml --host shop.example.com --path /api/x --header 'X-Tier: gold'",
            "  gateway explain --config gateway.yaml --connect api.github.com:443 --identity alice",
            "  gateway explain --admin 127.0.0.1:9901 --method POST --path /",
            "  gateway explain --config gateway.yaml --live --path /cart --header 'Cookie: user=7' --client 192.0.2.7"
        })
final class ExplainCommand implements Callable<Integer> {
    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Option(names = "--plugins", paramLabel = "DIR", description = ConfigFileCommand.PLUGINS)
    private @Nullable Path plugins;

    @Option(names = "--method", paramLabel = "METHOD", description = "Default: GET")
    private String method = "GET";

    @Option(names = "--host", paramLabel = "HOST", description = "Host, with or without a port.")
    private @Nullable String host;

    @Option(names = "--path", paramLabel = "PATH", description = "Path, with or without a query. Default: /")
    private String path = "/";

    @Option(names = "--header", paramLabel = "LINE", description = "Header field, such as 'X-Tier: gold'. Repeatable.")
    private List<String> headers = List.of();

    @Option(
            names = "--connect",
            paramLabel = "HOST:PORT",
            description = "Target of a tunnel (CONNECT), instead of a request.")
    private @Nullable String connect;

    @Option(names = "--identity", paramLabel = "NAME", description = "Identity of the client of the tunnel.")
    private @Nullable String identity;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            description = "Group of the identity, besides those of groupsFile. Repeatable.")
    private List<String> groups = List.of();

    @Option(names = "--listener", paramLabel = "NAME", description = "Only this listener. Default: all HTTP listeners")
    private @Nullable String listener;

    @Option(
            names = "--client",
            paramLabel = "ADDRESS",
            description = "IP address of the client, which may decide on the endpoint. Only of a running gateway.")
    private @Nullable String client;

    @Option(
            names = "--live",
            description = "Ask the running gateway whose configuration --config names. Default without --config")
    private boolean live;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        Path file = admin.config();
        if (file == null || live || admin.hasAddress()) {
            return admin.print(page(), CommandSupport.out(spec), CommandSupport.err(spec));
        }
        if (client != null) {
            CommandSupport.err(spec).println("--client is for the endpoints of a running gateway: add --live");
            return CommandSupport.USAGE;
        }
        return explain(file);
    }

    private int explain(Path file) {
        PrintWriter err = CommandSupport.err(spec);
        GatewayConfig config = CommandSupport.load(file, plugins, err);
        if (config == null) {
            return CommandSupport.INVALID_CONFIG;
        }
        Explanation explanation;
        try {
            ExplainRequest question = new ExplainRequest(
                    listener, connect, method, host, path, headers, identity, Set.copyOf(groups), null);
            explanation = new Explainer(config, LiveUpstreams.NONE, own(config)).explain(question);
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            return CommandSupport.USAGE;
        }
        CommandSupport.out(spec).print(json ? Json.write(explanation.json()) : ExplanationText.of(explanation));
        CommandSupport.out(spec).flush();
        return CommandSupport.exitCode(config);
    }

    /** Returns where the gateway would listen on this machine, as far as the configuration tells. */
    private static OwnListeners own(GatewayConfig config) {
        OwnListeners own = new OwnListeners(new LocalAddresses(Runnable::run));
        own.set(config.listeners().stream()
                .filter(each -> each.bind().unix() == null && each.bind().port() > 0)
                .map(ExplainCommand::address)
                .filter(address -> !address.isUnresolved())
                .toList());
        return own;
    }

    private static InetSocketAddress address(ListenerConfig listener) {
        return new InetSocketAddress(listener.bind().address(), listener.bind().port());
    }

    private String page() {
        StringBuilder page = new StringBuilder("/explain?format=").append(json ? "json" : "text");
        if (connect != null) {
            add(page, "connect", connect);
        } else {
            add(page, "method", method);
            add(page, "path", path);
            add(page, "host", host);
            headers.forEach(header -> add(page, "header", header));
        }
        add(page, "identity", identity);
        groups.forEach(group -> add(page, "group", group));
        add(page, "client", client);
        add(page, "listener", listener);
        return page.toString();
    }

    private static void add(StringBuilder page, String name, @Nullable String value) {
        if (value != null) {
            page.append('&').append(name).append('=').append(URLEncoder.encode(value, StandardCharsets.UTF_8));
        }
    }
}
