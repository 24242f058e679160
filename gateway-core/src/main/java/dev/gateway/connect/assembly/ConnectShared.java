package dev.gateway.connect.assembly;

import dev.gateway.connect.AdminKeptOut;
import dev.gateway.connect.ConnectTally;
import dev.gateway.connect.LocalAddresses;
import dev.gateway.connect.OwnListeners;
import dev.gateway.filter.SharedServices;
import dev.gateway.filter.auth.AuthWork;
import dev.gateway.filter.jwt.jwks.KeyClient;
import dev.gateway.observe.metrics.state.Denials;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.stream.ViaSignature;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What filters and connect sections of all generations share: threads, what is counted, and where this gateway listens. */
public final class ConnectShared {
    private final SharedServices services = new SharedServices();
    private final AuthWork work = AuthWork.of(services);
    private final CacheMemory caches;
    private final OwnListeners own = new OwnListeners(new LocalAddresses(work.files()));
    private final AdminKeptOut adminKeptOut = new AdminKeptOut(own);
    private final Map<String, ConnectTally> tallies = new ConcurrentHashMap<>();
    private final Map<String, ViaSignature> signatures = new ConcurrentHashMap<>();

    /**
     * Makes it, with nothing counted.
     *
     * @param keys makes sets of keys that are fetched
     * @param caches is charged for what filters remember to be faster
     */
    public ConnectShared(KeyClient keys, CacheMemory caches) {
        this.caches = caches;
        services.provide(KeyClient.class, keys);
        services.provide(CacheMemory.class, caches);
    }

    CacheMemory caches() {
        return caches;
    }

    AuthWork work() {
        return work;
    }

    /** Returns what the process has one of. */
    public SharedServices services() {
        return services;
    }

    /** Returns what keeps upstreams from leading to the admin listener. */
    public AdminKeptOut adminKeptOut() {
        return adminKeptOut;
    }

    /** Returns where this gateway itself listens. */
    public OwnListeners own() {
        return own;
    }

    /**
     * Says where the gateway listens now, so that no tunnel leads back to it, and no upstream to its admin pages.
     *
     * @param files the socket files of listeners of requests
     * @param admin which of the addresses has the admin pages, null if none has
     * @param adminFile the socket file that has them instead, or null
     */
    public void listensOn(
            Collection<InetSocketAddress> addresses,
            Collection<Path> files,
            @Nullable InetSocketAddress admin,
            @Nullable Path adminFile) {
        own.set(addresses);
        own.setFiles(files);
        own.setAdmin(admin, adminFile);
    }

    /** Returns what is counted of an entry: the same for all entries that ever had the name. */
    ConnectTally tally(String entry) {
        return tallies.computeIfAbsent(entry, name -> new ConnectTally());
    }

    /** Returns how requests through an entry are signed: the same for all entries that ever had the name. */
    ViaSignature ofEntry(String entry) {
        return signature("connect " + entry);
    }

    /** Returns how requests that take a route are signed: the same for all routes that ever had the name. */
    public ViaSignature ofRoute(String route) {
        return signature("route " + route);
    }

    private ViaSignature signature(String key) {
        return signatures.computeIfAbsent(key, name -> ViaSignature.random());
    }

    /** Reads what was refused, by listener and rule. */
    public void readDenials(Denials denials) {
        tallies.values()
                .forEach(tally -> tally.forEachDenial(
                        (labels, count) -> denials.denied(labels.listener(), labels.rule(), count)));
    }
}
