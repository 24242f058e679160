package dev.gateway.upstream.discovery;

import dev.gateway.upstream.SourceStatus;

/**
 * The state of a source of endpoints, for pages.
 *
 * @param source its name, such as {@code dns:app.example.com}
 * @param kind such as dns
 * @param at its place in the configuration
 * @param endpoints number of endpoints in its last answer
 * @param emptiness why there may be none although it works
 */
public record SourceState(String source, String kind, String at, int endpoints, SourceStatus status, String emptiness) {
    /** Says why it has no endpoints. */
    String whyEmpty() {
        return switch (status.state()) {
            case STALE -> source + ": " + status.problem();
            case WAITING -> source + " has not answered yet";
            case FRESH -> source + " " + emptiness;
        };
    }
}
