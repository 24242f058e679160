package dev.gateway.net.dns;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.ClientMemory;
import dev.gateway.overload.memory.Cost;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The lookups of one event loop that wait for DNS: all that ask for a name share one. A lookup cannot be cancelled, and may
 * outlast its client. So those for names that clients have chosen are bounded, and charged to who has asked first, until
 * nothing of them is left. No client may have more of them than are left for all others. Confined to its loop.
 */
final class RunningLookups {
    /**
     * How many lookups there may be for names that clients have chosen. Netty numbers the queries to a name server with 16 bits,
     * and a lookup may need several, so that enough numbers are left for names of the configuration.
     */
    static final int MOST = 4096;

    /** How many of them may be charged to nobody, such as those for the addresses of open connections. */
    static final int MOST_UNCHARGED = 256;

    /** Netty uses the number of a query that nobody has answered again after this time, and keeps the query for so long. */
    private static final long KEPT_MILLIS = 10_000;

    private final EventLoop loop;
    private final long queryNanos;
    private final Map<Lookup.Name, Lookup> byName = new HashMap<>(); // without renewals, which nobody shares
    private final IdentityHashMap<ClientMemory, Integer> byClient = new IdentityHashMap<>();
    private int all;
    private int uncharged;

    /**
     * Makes it, without lookups.
     *
     * @param queryMillis after which time a query counts as not answered
     */
    RunningLookups(EventLoop loop, long queryMillis) {
        this.loop = loop;
        this.queryNanos = TimeUnit.MILLISECONDS.toNanos(queryMillis);
    }

    /** Returns the lookup that is running for a name, null if a new one is needed. */
    @Nullable
    Lookup find(Lookup.Name name) {
        Lookup known = byName.get(name);
        return known != null && known.isCurrent() ? known : null;
    }

    private void list(Lookup.Name name, Lookup lookup) {
        if (!lookup.renews()) {
            byName.put(name, lookup);
        }
    }

    /** Starts a lookup for a name of the configuration. Others that ask for the name share it, if it is no renewal. */
    void start(Lookup.Name name, Lookup lookup, Lookup.@Nullable Source ipv6, Lookup.Source ipv4) {
        list(name, lookup);
        lookup.start(ipv6, ipv4, () -> byName.remove(name, lookup));
    }

    /**
     * Starts a lookup for a name that a client has chosen. Others that ask for the name share it, if it is no renewal.
     *
     * @param account of the client
     * @return why it was not started, else null
     */
    @Nullable
    LookupLimitException startFor(
            Account account, Lookup.Name name, Lookup lookup, Lookup.@Nullable Source ipv6, Lookup.Source ipv4) {
        ClientMemory client = account.client();
        int own = client == null ? uncharged : byClient.getOrDefault(client, 0);
        int most = client == null ? Math.min(MOST_UNCHARGED, MOST - all) : MOST - all;
        if (own >= most) {
            return new LookupLimitException(
                    client == null || all >= MOST
                            ? "too many DNS lookups are running"
                            : "too many DNS lookups of this client are running");
        } else if (!account.tryCharge(Cost.LOOKUP)) {
            return new LookupLimitException("no memory is left for another DNS lookup");
        }
        account.join();
        count(client, 1);
        list(name, lookup);
        long startNanos = System.nanoTime();
        lookup.start(ipv6, ipv4, () -> {
            byName.remove(name, lookup);
            if (System.nanoTime() - startNanos < queryNanos || loop.isShuttingDown()) {
                end(account, client);
            } else {
                loop.schedule(() -> end(account, client), KEPT_MILLIS, TimeUnit.MILLISECONDS);
            }
        });
        return null;
    }

    private void end(Account account, @Nullable ClientMemory client) {
        count(client, -1);
        account.release(Cost.LOOKUP);
        account.leave();
    }

    private void count(@Nullable ClientMemory client, int change) {
        all += change;
        if (client == null) {
            uncharged += change;
        } else if (byClient.merge(client, change, Integer::sum) == 0) {
            byClient.remove(client);
        }
    }
}
