package dev.gateway.stream;

/** An upstream's endpoint, as logs and metrics name it. Those that are equal have the same name. Immutable. */
public interface EndpointName {
    /** Returns {@code host:port}, or {@code unix:/path}. */
    @Override
    String toString();
}
