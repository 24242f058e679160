package dev.gateway.upstream.discovery;

import dev.gateway.net.dns.Resolver;
import dev.gateway.net.dns.ServiceRecord;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** DNS queries of sources. All of them run on one event loop. */
interface DnsQuestions {
    /** Resolves a name. Called on the event loop. */
    Resolver.Answers addresses(String name);

    /** Returns the remaining time to live of a name's addresses, in milliseconds. It is short if DNS has failed. */
    long holdsMillis(String name);

    /** Returns the state of a name's addresses in the cache, null if there are none. */
    Resolver.@Nullable Standing standing(String name);

    /** Whether this machine can reach only IPv6 addresses. */
    boolean needsIpv6();

    /** Queries the SRV records of a name. Called on the event loop. */
    Future<ServiceRecord.Answer> services(String name);

    /** Keeps the answers for a name in the cache of configured names until {@link #drop}. */
    void keep(String name);

    /** Ends {@link #keep} for a name. */
    void drop(String name);

    /**
     * Follows a name: tells each time that a doubt has made the resolver ask for it.
     *
     * @param task called on the event loop when the cache has the outcome
     * @return ends it
     */
    Runnable follow(String name, Runnable task);

    /** Returns queries that a resolver answers on an event loop. */
    static DnsQuestions of(Resolver resolver, EventLoop loop) {
        return new DnsQuestions() {
            @Override
            public Resolver.Answers addresses(String name) {
                return resolver.resolve(loop, name);
            }

            @Override
            public long holdsMillis(String name) {
                return resolver.holdsMillis(name, false);
            }

            @Override
            public Resolver.@Nullable Standing standing(String name) {
                return resolver.standing(name);
            }

            @Override
            public boolean needsIpv6() {
                return resolver.needsIpv6();
            }

            @Override
            public Future<ServiceRecord.Answer> services(String name) {
                return resolver.services(loop, name);
            }

            @Override
            public void keep(String name) {
                resolver.keep(name);
            }

            @Override
            public void drop(String name) {
                resolver.drop(name);
            }

            @Override
            public Runnable follow(String name, Runnable task) {
                return resolver.follow(loop, name, false, task);
            }
        };
    }
}
