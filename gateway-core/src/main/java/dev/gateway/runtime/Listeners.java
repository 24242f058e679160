package dev.gateway.runtime;

import dev.gateway.admin.AdminDoor;
import dev.gateway.admin.AdminPages;
import dev.gateway.config.AdminConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.TlsConfig;
import dev.gateway.connect.assembly.ConnectShared;
import dev.gateway.listener.Listener;
import dev.gateway.listener.ListenerSettings;
import dev.gateway.listener.OpenConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listener manager. All listeners of a gateway, that of the admin pages included: those that serve, and those that finish
 * what they have. Changed by one thread at a time, through {@link ListenerChange}; any thread may ask.
 */
public final class Listeners {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    final DataPlane dataPlane;
    final AdminPages pages;
    private final ScheduledExecutorService thread;
    private final List<Listener> leaving = new CopyOnWriteArrayList<>();
    private volatile List<Serving> serving = List.of();
    private volatile @Nullable Admin admin;

    /** A listener that serves, and what it was made of. */
    public record Serving(ListenerConfig config, Listener listener, @Nullable ListenerTls tls) {}

    /** The listener of the admin pages, and the rules for its connections. */
    public record Admin(Listener listener, AdminDoor door) {}

    /**
     * Makes an empty set.
     *
     * @param thread the one that changes it, once the gateway has started
     */
    public Listeners(DataPlane dataPlane, AdminPages pages, ScheduledExecutorService thread) {
        this.dataPlane = dataPlane;
        this.pages = pages;
        this.thread = thread;
    }

    /** Returns those that serve, in the order of the configuration. */
    public List<Serving> serving() {
        return serving;
    }

    /**
     * Returns a warning for each wish of the configuration that a bound socket cannot fulfil.
     *
     * @param adminConfig the admin section of that configuration, null if there is none
     */
    List<String> fixed(@Nullable AdminConfig adminConfig) {
        List<String> lines = new ArrayList<>(serving.stream()
                .filter(each ->
                        each.config().bind().reusePort() != each.listener().isReusePort())
                .map(each -> DataPlane.fixed(
                        each.config().position(),
                        "reusePort of the listener " + each.config().name()))
                .toList());
        Admin current = admin;
        if (current != null
                && adminConfig != null
                && adminConfig.bind().reusePort() != current.listener().isReusePort()) {
            lines.add(DataPlane.fixed(adminConfig.position(), "reusePort of the admin listener"));
        }
        return lines;
    }

    /** Returns the listener of the admin pages, or null. */
    @Nullable
    public Admin admin() {
        return admin;
    }

    private @Nullable Listener adminListener() {
        Admin current = admin;
        return current == null ? null : current.listener();
    }

    /** Takes note of what serves from now on. */
    void serve(List<Serving> all, @Nullable Admin adminToo) {
        serving = List.copyOf(all);
        admin = adminToo;
    }

    /**
     * Reads the files of a listener's TLS again; connections that it accepts from now on use them.
     *
     * @throws IOException if a file cannot be read; then all is as it was before
     * @throws GeneralSecurityException if what is in them is not usable; then all is as it was before
     */
    void renew(Serving old) throws IOException, GeneralSecurityException {
        ListenerTls tls = Objects.requireNonNull(old.tls());
        ListenerTls fresh = ListenerTls.read(tls.settings());
        old.listener().replace(old.listener().settings().with(fresh.tls()));
        closeFormerClients(old.config(), old.listener(), tls, fresh);
        serving = serving.stream()
                .map(each ->
                        each.listener() == old.listener() ? new Serving(old.config(), old.listener(), fresh) : each)
                .toList();
        tls.close();
    }

    /** Closes the connections there are if other clients are accepted now, and the configuration wants it. */
    static void closeFormerClients(ListenerConfig config, Listener listener, ListenerTls before, ListenerTls now) {
        TlsConfig tls = config.protocols().tls();
        if (tls != null
                && tls.clients().caChange() == TlsConfig.CaChange.CLOSE
                && !before.tls().acceptsSameClients(now.tls())) {
            log.info(
                    "Listener {} verifies client certificates otherwise now (clientAuth, caFile or crlFile), so the"
                            + " gateway closes its connections",
                    config.name());
            listener.closeConnections();
        }
    }

    /** Finds indexes for listeners: the one that a name has, also of a listener that is still leaving, else a free one. */
    Map<String, Integer> indexes(List<ListenerConfig> wanted) {
        Map<String, Integer> taken = new HashMap<>();
        leaving.forEach(each -> taken.put(each.name(), each.settings().index()));
        serving.forEach(each ->
                taken.put(each.config().name(), each.listener().settings().index()));
        Set<Integer> used = new HashSet<>(taken.values());
        Map<String, Integer> indexes = new HashMap<>();
        int next = 0;
        for (ListenerConfig each : wanted) {
            Integer index = taken.get(each.name());
            if (index == null) {
                while (!used.add(next)) {
                    next++;
                }
                index = next;
            }
            indexes.put(each.name(), index);
        }
        return indexes;
    }

    /**
     * Lets listeners that serve no more accept those who have reached them, and finish what runs, for some time. The index
     * of each is free when it has. Their sockets are closed when this returns.
     */
    void leave(List<Listener> gone, long nanos) {
        leaving.addAll(gone);
        closeSockets(gone, nanos);
        long lastWord = Math.min(ListenerShutdown.LAST_WORD_NANOS, nanos / 4);
        for (Listener each : gone) {
            thread.schedule(
                    () -> drain(each, nanos - lastWord).thenRunAsync(() -> hasLeft(each), thread),
                    each.connections() == 0 ? 0 : lastWord,
                    TimeUnit.NANOSECONDS);
        }
    }

    /** Closes listening sockets when nobody who has reached them waits any more. */
    void closeSockets(List<Listener> gone, long nanos) {
        gone.forEach(Listener::announceClose);
        gone.forEach(Listener::giveWay);
        gone.forEach(Listener::turnAway);
        ListenerShutdown.acceptRest(gone, nanos / 4);
        gone.forEach(Listener::stopAccepting);
    }

    /** Lets a listener finish what runs, then ends what is left. */
    CompletableFuture<Void> drain(Listener listener, long nanos) {
        CompletableFuture<Void> drained = listener.drain();
        Future<?> limit = thread.schedule(
                () -> {
                    log.warn(
                            "Drain timeout: closing {} connections of the former listener {}",
                            listener.connections(),
                            listener.name());
                    listener.closeConnections();
                },
                nanos,
                TimeUnit.NANOSECONDS);
        return drained.thenRun(() -> limit.cancel(false));
    }

    private void hasLeft(Listener listener) {
        leaving.remove(listener);
        int index = listener.settings().index();
        boolean used = Stream.concat(serving.stream().map(Serving::listener), leaving.stream())
                .anyMatch(each -> each.settings().index() == index);
        if (!used) {
            dataPlane.forget(index);
        }
    }

    /** Tells the log where a listener can be reached. */
    static void announce(Listener listener) {
        ListenerSettings.Protocols spoken = listener.settings().protocols();
        String protocols = spoken.bytes() != null
                ? spoken.bytes().tls() ? "TLS, passed on" : "TCP, passed on"
                : spoken.http2() == null ? "HTTP/1.1" : "HTTP/1.1 and h2";
        log.info("Listener {} at {} ({})", listener.name(), url(listener), protocols);
    }

    /** Returns where a listener can be reached. */
    public static String url(Listener listener) {
        if (listener.settings().bound() instanceof UnixDomainSocketAddress unix) {
            return "unix:" + unix.getPath();
        }
        InetSocketAddress address = (InetSocketAddress) listener.address();
        String host = address.getAddress().isAnyLocalAddress()
                ? "localhost" // of all addresses the one to try first
                : bracketed(address.getAddress().getHostAddress());
        if (listener.settings().protocols().bytes() != null) {
            return "tcp://" + host + ":" + address.getPort();
        }
        return (listener.settings().tls() == null ? "http://" : "https://") + host + ":" + address.getPort() + "/";
    }

    private static String bracketed(String ip) {
        return ip.indexOf(':') < 0 ? ip : "[" + ip + "]";
    }

    /** Returns where each listener can be reached, by name; no admin listener. */
    public Map<String, String> urls() {
        Map<String, String> urls = new LinkedHashMap<>();
        serving.forEach(each -> urls.put(each.config().name(), url(each.listener())));
        return urls;
    }

    /** Returns where the admin listener can be reached, null if there is none. */
    @Nullable
    public String adminUrl() {
        Listener current = adminListener();
        return current == null ? null : url(current);
    }

    /** Returns the port that a listener is bound to; {@code admin} is the admin listener. */
    public int port(String name) {
        return Stream.concat(serving.stream().map(Serving::listener), Stream.ofNullable(adminListener()))
                .filter(each -> each.name().equals(name) && each.address() instanceof InetSocketAddress)
                .mapToInt(each -> ((InetSocketAddress) each.address()).getPort())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no TCP listener " + name));
    }

    /** Says where the gateway listens now, so that nothing is sent in circles, or to the admin pages. */
    void tell(ConnectShared tunnels) {
        Listener admin = adminListener();
        List<InetSocketAddress> all = Stream.concat(serving.stream().map(Serving::listener), Stream.ofNullable(admin))
                .filter(each -> each.address() instanceof InetSocketAddress)
                .map(each -> (InetSocketAddress) each.address())
                .toList();
        List<Path> files = serving.stream()
                .map(each -> each.listener().settings().bound())
                .filter(UnixDomainSocketAddress.class::isInstance)
                .map(bound -> ((UnixDomainSocketAddress) bound).getPath())
                .toList();
        tunnels.listensOn(
                all,
                files,
                admin != null && admin.address() instanceof InetSocketAddress tcp ? tcp : null,
                admin != null && admin.settings().bound() instanceof UnixDomainSocketAddress unix
                        ? unix.getPath()
                        : null);
    }

    private List<Listener> all() {
        List<Listener> all = new ArrayList<>(leaving);
        serving.forEach(each -> all.add(each.listener()));
        return all;
    }

    /** Returns those that finish what they have. */
    public List<Listener> leaving() {
        return leaving;
    }

    /** Looks at clients' connections, without those of the admin listener; as {@link Listener#view} does. */
    public List<CompletableFuture<List<OpenConnection>>> view(long after, int limit) {
        return all().stream()
                .flatMap(listener -> listener.view(after, limit).stream())
                .toList();
    }

    /** Counts clients' connections, without those of the admin listener. */
    public int connections() {
        return all().stream().mapToInt(Listener::connections).sum();
    }

    /** Announces to clients that their connections close, so that they take what they ask next elsewhere in time. */
    void announceClose() {
        serving.forEach(each -> each.listener().announceClose());
    }

    /**
     * Accepts no more connections but those that wait, lets what runs on them finish for some time, then ends what is
     * left. The admin listener stays open.
     *
     * @param nanos how long all of it may take
     * @param toldNanos how long ago clients were told by {@link #announceClose}
     */
    void drain(long nanos, long toldNanos) {
        shutdown().drain(nanos, toldNanos);
    }

    /** Stops accepting and closes all connections. The admin listener stays open. */
    void close() {
        shutdown().close();
    }

    private ListenerShutdown shutdown() {
        return new ListenerShutdown(all(), dataPlane.transport().inherited());
    }

    /** Ends the admin listener and frees certificates; to be called when all else has been drained or closed. */
    void stop() {
        Listener current = adminListener();
        if (current != null) {
            current.drain();
            current.closeConnections();
        }
        for (Serving each : serving) {
            if (each.tls() != null) {
                each.tls().close();
            }
        }
    }
}
