package dev.gateway.otlp;

import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.StreamOpener;
import dev.gateway.upstream.Upstream;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import java.util.List;

/**
 * How a receiver is reached.
 *
 * @param upstream the receiver, with one endpoint
 * @param opener opens streams to it on an event loop
 * @param wheel the timers of that loop
 */
public record Link(Upstream upstream, StreamOpener opener, TimerWheel wheel) {
    /** Returns what gives exporters their sender, where the SDK would look for a library with an HTTP client. */
    ComponentLoader loader() {
        HttpSenderProvider provider = config -> new UpstreamSender(this, config);
        return new ComponentLoader() {
            @Override
            public <T> Iterable<T> load(Class<T> type) {
                return type.isInstance(provider) ? List.of(type.cast(provider)) : List.of();
            }
        };
    }
}
