package dev.gateway.net.dns;

import dev.gateway.net.FailureText;
import dev.gateway.net.dns.NameCache.Answer;
import dev.gateway.net.dns.NameCache.Turn;
import io.netty.channel.EventLoop;
import io.netty.resolver.NameResolver;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lookup of the addresses of a name, with an answer for each family. If a query fails or takes long, an earlier answer
 * replaces its answer, if it is not too old. Not if DNS answers that there are no addresses, and the other family has some:
 * then the name has no addresses of this family any more. Confined to its event loop.
 */
final class Lookup {
    private static final Logger log = LoggerFactory.getLogger(Lookup.class);
    private static final long MIN_TTL_SECONDS = 1;

    /** How long a failure is cached, so that not every request asks DNS for a name that does not exist. */
    private static final long NEGATIVE_TTL_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** How long to wait for a query if there is an earlier answer. */
    private static final long PATIENCE_MILLIS = 500;

    private final EventLoop loop;
    private final String host;
    private final String asked;
    private final NameCache cache;
    private final Use use;
    private final Part ipv6;
    private final Part ipv4;
    private int queries = 1; // not answered yet; one more until all were sent
    private Runnable whenOver = () -> {};

    /**
     * The name to look up.
     *
     * @param host the name as the caller knows it, which is the key in the cache
     * @param asked the name in the query: with a dot at its end if search domains must not be added
     */
    record Name(String host, String asked) {}

    /**
     * How a lookup uses the cache.
     *
     * @param maxTtlSeconds how long an answer is used at most
     * @param maxStaleNanos how old an earlier answer may be that replaces a failed one, 0 for no replacement
     * @param renews whether DNS is asked although the cache has an answer
     */
    record Use(long maxTtlSeconds, long maxStaleNanos, boolean renews) {}

    /** Returns for how long an answer with this TTL is used. */
    static long bounded(long seconds, long maxSeconds) {
        return Math.min(Math.max(seconds, MIN_TTL_SECONDS), maxSeconds);
    }

    /** The state of one family's query. */
    private enum State {
        UNASKED, // there is no query for this family at all
        AWAITED,
        /** There are no addresses, or the query failed. */
        FAILED,
        GOOD
    }

    /** The query for one family. */
    private final class Part {
        final Family family;
        final Promise<List<InetAddress>> promise = loop.newPromise();
        final @Nullable Answer before;
        final boolean usable; // whether the addresses of before may still be used
        State state = State.AWAITED;

        @Nullable
        Throwable failure;

        Part(Family family, @Nullable Answer before, long now) {
            this.family = family;
            this.before = before;
            this.usable =
                    before != null && !before.addresses().isEmpty() && now - before.goodNanos() < use.maxStaleNanos;
        }

        Turn put(List<InetAddress> addresses, @Nullable Throwable why, long ttlNanos, long goodNanos) {
            return cache.put(host, family, new Answer(addresses, why, System.nanoTime() + ttlNanos, goodNanos));
        }

        void onAnswer(Future<List<InetAddress>> answer, TimesToLive times) {
            if (answer.isSuccess()) {
                List<InetAddress> addresses = answer.getNow();
                state = State.GOOD;
                long seconds = bounded(times.take(addresses), use.maxTtlSeconds);
                Turn turn = put(addresses, null, TimeUnit.SECONDS.toNanos(seconds), System.nanoTime());
                if (turn == Turn.FRESH) {
                    log.info("DNS resolves {} again", host);
                }
                promise.trySuccess(addresses);
            } else {
                state = State.FAILED;
                failure = answer.cause();
            }
        }

        /** Uses the answer of the cache. */
        void take(Answer known) {
            state = known.isGood() ? State.GOOD : State.FAILED;
            if (known.addresses().isEmpty() && known.failure() != null) {
                promise.tryFailure(known.failure());
            } else {
                promise.trySuccess(known.addresses());
            }
        }

        /** This family has failed, and the other one's result is known. */
        void settle(Throwable why, boolean otherIsGood) {
            if (before != null && before.isValid() && Outages.isOne(why)) {
                take(before); // it was renewed too soon: DNS has not taken it back
                return;
            }
            boolean gone = otherIsGood && !Outages.isOne(why); // the other answer may be from the cache
            if (usable && before != null && !gone) {
                if (put(before.addresses(), why, NEGATIVE_TTL_NANOS, before.goodNanos()) == Turn.STALE) {
                    log.warn(
                            "DNS fails for {}; the gateway keeps its last known addresses: {}",
                            host,
                            FailureText.of(why));
                }
                promise.trySuccess(before.addresses());
                return;
            }
            if (!DnsNameResolver.isTransportOrTimeoutError(why)) {
                put(List.of(), why, NEGATIVE_TTL_NANOS, 0);
            } else if (before != null && !before.addresses().isEmpty()) {
                put(List.of(), why, 0, 0); // the earlier answer is too old
            }
            promise.tryFailure(why);
        }
    }

    /** Prepares the lookup. */
    Lookup(EventLoop loop, Name name, NameCache cache, Use use) {
        this.loop = loop;
        this.host = name.host;
        this.asked = name.asked;
        this.cache = cache;
        this.use = use;
        long now = System.nanoTime();
        this.ipv6 = new Part(Family.IPV6, cache.get(host, Family.IPV6), now);
        this.ipv4 = new Part(Family.IPV4, cache.get(host, Family.IPV4), now);
    }

    /** A resolver of one family and loop. */
    record Source(NameResolver<InetAddress> resolver, TimesToLive times) {}

    /**
     * Sends queries for families that are not in the cache.
     *
     * @param forIpv6 null to send no query for IPv6
     * @param over called when no query is running any more, maybe before this returns
     */
    void start(@Nullable Source forIpv6, Source forIpv4, Runnable over) {
        whenOver = over;
        ask(ipv6, forIpv6);
        ask(ipv4, forIpv4);
        onQueryEnded();
    }

    /** Whether the cache has all answers, so that no query is sent. */
    boolean isKnown(boolean asksIpv6) {
        return (!asksIpv6 || isKnown(ipv6)) && isKnown(ipv4);
    }

    private boolean isKnown(Part part) {
        return part.before != null && part.before.isValid() && !use.renews;
    }

    /** Whether it asks DNS although the cache has an answer. */
    boolean renews() {
        return use.renews;
    }

    /** Whether what it has or awaits is what another lookup would find. */
    boolean isCurrent() {
        return isCurrent(ipv6) && isCurrent(ipv4);
    }

    private boolean isCurrent(Part part) {
        if (part.state == State.UNASKED) {
            return true;
        }
        Answer known = cache.get(host, part.family); // maybe of another loop
        if (part.state == State.AWAITED || !part.promise.isDone()) {
            return known == null || !known.isValid();
        }
        List<InetAddress> told = part.promise.isSuccess() ? part.promise.getNow() : List.of();
        return known != null && known.isValid() && known.addresses().equals(told);
    }

    private void onQueryEnded() {
        queries--;
        if (queries == 0) {
            whenOver.run();
        }
    }

    /** Returns the IPv6 addresses. */
    Future<List<InetAddress>> ipv6() {
        return ipv6.promise;
    }

    /** Returns the IPv4 addresses. */
    Future<List<InetAddress>> ipv4() {
        return ipv4.promise;
    }

    private void ask(Part part, @Nullable Source source) {
        Answer before = part.before;
        if (source == null) {
            part.state = State.UNASKED;
            part.promise.setSuccess(List.of());
        } else if (before != null && isKnown(part)) {
            part.take(before);
        } else {
            if (part.usable && before != null && !use.renews) {
                Future<?> patience = loop.schedule(
                        () -> part.promise.trySuccess(before.addresses()), PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
                part.promise.addListener(done -> patience.cancel(false));
            }
            queries++;
            source.resolver.resolveAll(asked).addListener((Future<List<InetAddress>> answer) -> {
                try {
                    part.onAnswer(answer, source.times);
                    settle();
                } finally { // else it would be charged and shared for ever
                    onQueryEnded();
                }
            });
        }
    }

    private void settle() {
        boolean anyGood = ipv6.state == State.GOOD || ipv4.state == State.GOOD;
        boolean allKnown = ipv6.state != State.AWAITED && ipv4.state != State.AWAITED;
        settle(ipv6, anyGood, allKnown);
        settle(ipv4, anyGood, allKnown);
    }

    private static void settle(Part part, boolean anyGood, boolean allKnown) {
        Throwable why = part.failure;
        if (why != null && (anyGood || !part.usable || allKnown)) {
            part.failure = null;
            part.settle(why, anyGood);
        }
    }
}
