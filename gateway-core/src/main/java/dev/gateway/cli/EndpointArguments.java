package dev.gateway.cli;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Parameters;

/** The arguments of commands that change what becomes of an endpoint. */
final class EndpointArguments {
    @Parameters(index = "0", paramLabel = "UPSTREAM", description = "Name of the upstream.")
    private String upstream = "";

    @Parameters(
            index = "1",
            paramLabel = "ENDPOINT",
            description = "The endpoint as /upstreams shows it, such as 10.0.0.7:8080.")
    private String endpoint = "";

    String upstream() {
        return upstream;
    }

    String endpoint() {
        return endpoint;
    }

    /** Returns the path of an action of the admin listener on this endpoint. */
    String action(String name) {
        return "/endpoints/" + encode(upstream) + "/" + encode(endpoint) + ":" + name;
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
