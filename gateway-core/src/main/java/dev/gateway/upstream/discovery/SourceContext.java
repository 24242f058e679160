package dev.gateway.upstream.discovery;

import dev.gateway.config.upstream.EndpointConfig.Place;
import io.netty.channel.EventLoop;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;

/** What a source of endpoints is made with. */
public final class SourceContext {
    private final DnsQuestions dns;
    private final EventLoop loop;
    private final ScheduledExecutorService thread;
    private final Function<Place, EndpointSource> names;

    SourceContext(
            DnsQuestions dns, EventLoop loop, ScheduledExecutorService thread, Function<Place, EndpointSource> names) {
        this.dns = dns;
        this.loop = loop;
        this.thread = thread;
        this.names = names;
    }

    /** Returns the event loop of all DNS queries. */
    public EventLoop loop() {
        return loop;
    }

    /** Returns the reload thread, which may read files. */
    public ScheduledExecutorService thread() {
        return thread;
    }

    DnsQuestions dns() {
        return dns;
    }

    /** Makes the source of a host, or of another place that a file of endpoints may have. */
    Function<Place, EndpointSource> names() {
        return names;
    }
}
