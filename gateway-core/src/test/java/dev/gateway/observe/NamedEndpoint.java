package dev.gateway.observe;

import dev.gateway.stream.EndpointName;

/** An endpoint that is nothing but its name. */
public record NamedEndpoint(String name) implements EndpointName {
    @Override
    public String toString() {
        return name;
    }
}
