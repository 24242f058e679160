package dev.gateway.config.yaml;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.Problem;
import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.yaml.schema.upstream.EndpointSchema;
import dev.gateway.config.yaml.type.Node;
import dev.gateway.config.yaml.type.Problems;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Variables;
import dev.gateway.files.InputFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/**
 * Endpoint file: a YAML or JSON list of endpoints, written as in a configuration. Blocks on the file; not for event loops.
 */
public final class EndpointFile {
    /** How many endpoints a file may have. */
    public static final int MOST = 1000;

    private EndpointFile() {}

    /**
     * Returns the endpoints, of which there may be none. Relative paths in the file start at its directory.
     *
     * @throws IOException if the file cannot be read or has a mistake; the message names the file, and line and column of
     *     the first mistake
     */
    public static List<EndpointConfig> read(Path file) throws IOException {
        byte[] bytes = InputFile.bytes(file, YamlText.MAX_BYTES);
        Problems problems = new Problems();
        Path directory = file.toAbsolutePath().getParent();
        Scope scope = new Scope(
                problems,
                new Variables(System.getenv()),
                directory == null ? file.toAbsolutePath() : directory,
                Instant.EPOCH); // nothing in such a file has an end
        Node root = YamlText.ENDPOINTS.read(file.toString(), bytes, problems);
        List<EndpointConfig> endpoints = root == null ? List.of() : EndpointSchema.LIST.read(root, "the file", scope);
        endpoints.forEach(each -> refuseSources(each, scope));
        if (endpoints.size() > MOST) {
            problems.error(endpoints.get(MOST).position(), "more than " + MOST + " endpoints in one file");
        }
        List<Problem> errors = problems.inOrder().stream()
                .filter(problem -> problem.severity() == Problem.Severity.ERROR)
                .toList();
        if (!errors.isEmpty()) {
            int more = errors.size() - 1;
            throw new IOException(errors.get(0)
                    + (more == 0 ? "" : "; and " + more + (more == 1 ? " mistake more" : " mistakes more")));
        }
        return List.copyOf(endpoints);
    }

    private static void refuseSources(EndpointConfig endpoint, Scope scope) {
        String why = endpoint.place().notInFiles();
        if (why != null) {
            scope.problems.error(scope.at(endpoint, endpoint.place().key()), why + ": name it in the upstream");
        }
    }

    /** Adds sources that cannot be read to the problems of a configuration. */
    static void check(GatewayConfig config, Scope scope) {
        for (UpstreamConfig upstream : config.upstreams()) {
            for (EndpointConfig endpoint : upstream.endpoints()) {
                String problem = endpoint.place().problem();
                if (problem != null) {
                    String key = endpoint.place().key();
                    scope.problems.error(scope.at(endpoint, key), key + ": " + problem);
                }
            }
        }
    }
}
