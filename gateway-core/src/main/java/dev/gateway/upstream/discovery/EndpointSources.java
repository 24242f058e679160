package dev.gateway.upstream.discovery;

import dev.gateway.config.EndpointConfig.Dns;
import dev.gateway.config.EndpointConfig.File;
import dev.gateway.config.EndpointConfig.Host;
import dev.gateway.config.EndpointConfig.Place;
import dev.gateway.config.EndpointConfig.Srv;
import dev.gateway.net.dns.Resolver;
import dev.gateway.upstream.EndpointSource;
import dev.gateway.upstream.EndpointSpec;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.util.concurrent.ScheduledExecutorService;

/** Makes sources of endpoints: one line for each kind. */
public final class EndpointSources {
    private final DnsQuestions dns;
    private final EventLoop loop;
    private final ScheduledExecutorService thread;

    /**
     * Makes it.
     *
     * @param loop the event loop of all DNS queries
     * @param thread the reload thread, which reads files
     */
    public EndpointSources(Resolver resolver, EventLoop loop, ScheduledExecutorService thread) {
        this(DnsQuestions.of(resolver, loop), loop, thread);
    }

    EndpointSources(DnsQuestions dns, EventLoop loop, ScheduledExecutorService thread) {
        this.dns = dns;
        this.loop = loop;
        this.thread = thread;
    }

    /**
     * Returns a source that has not started.
     *
     * @param place the place of an entry that needs a source
     * @throws IOException if its file cannot be read or has a mistake; the message has its name
     */
    EndpointSource of(Place place) throws IOException {
        String source = EndpointEntries.source(place);
        if (place instanceof Srv srv) {
            return new SrvSource(srv.name(), source, dns, loop);
        } else if (place instanceof File file) {
            return new FileSource(file.path(), source, this::ofName, thread);
        }
        return ofName(place);
    }

    private EndpointSource ofName(Place place) {
        if (place instanceof Host host) {
            return names(host.name(), host.port(), place, DnsSource.Use.HOST);
        } else if (place instanceof Dns name) {
            return names(name.name(), name.port(), place, DnsSource.Use.HOSTS);
        }
        throw new IllegalArgumentException(place + " has no source");
    }

    private EndpointSource names(String name, int port, Place place, DnsSource.Use use) {
        EndpointSpec whole = new EndpointSpec(name, port, 1, name, null, EndpointEntries.source(place));
        return new DnsSource(whole, use, dns, loop, () -> {});
    }
}
