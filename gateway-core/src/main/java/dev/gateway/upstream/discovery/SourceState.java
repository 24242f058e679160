package dev.gateway.upstream.discovery;

import dev.gateway.upstream.SourceStatus;

/**
 * The state of a source of endpoints, for pages.
 *
 * @param source its name, such as {@code dns:app.example.com}
 * @param kind dns, srv or file
 * @param at its place in the configuration
 * @param endpoints number of endpoints in its last answer
 */
public record SourceState(String source, String kind, String at, int endpoints, SourceStatus status) {
    /** Says why it has no endpoints. */
    String whyEmpty() {
        return switch (status.state()) {
            case STALE -> source + ": " + status.problem();
            case WAITING -> source + " has not answered yet";
            case FRESH ->
                switch (kind) {
                    case "file" -> source + " has an empty list";
                    case "srv" -> source + " says that there is no such service";
                    default -> source + " has no addresses";
                };
        };
    }
}
