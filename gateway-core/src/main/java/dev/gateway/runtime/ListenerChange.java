package dev.gateway.runtime;

import dev.gateway.admin.AdminAccess;
import dev.gateway.admin.AdminDoor;
import dev.gateway.config.AdminConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.value.ConfigEquality;
import dev.gateway.config.value.Position;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.listener.Listener;
import dev.gateway.listener.ListenerLoop;
import dev.gateway.listener.ListenerSettings;
import dev.gateway.listener.assembly.ListenerAssembly;
import dev.gateway.net.tls.ServerTlsSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The step from the listeners that serve to those of another configuration. What can fail is done by {@link #prepare},
 * and shows only after {@link #commit}. A socket is kept wherever its address is still wanted: by the listener of the
 * same name, else by any other.
 */
final class ListenerChange {
    private static final Logger log = LoggerFactory.getLogger(ListenerChange.class);

    private final Listeners listeners;
    private final GatewayConfig config;
    private final FilterStates.Prepared states;
    private final Map<String, Integer> indexes;
    private final Map<String, Listeners.Serving> before = new HashMap<>(); // by name
    private final Map<SocketAddress, Listener> addresses = new HashMap<>(); // that nobody wants yet
    private final List<Planned> planned = new ArrayList<>();
    private final List<Listener> bound = new ArrayList<>();
    private final List<ListenerTls> read = new ArrayList<>();
    private Listeners.@Nullable Admin admin;

    /** A listener to be; the other one was bound for it, is to be changed, or is to be succeeded. */
    private record Planned(
            ListenerConfig config, ListenerSettings settings, @Nullable ListenerTls tls, Listener listener) {}

    ListenerChange(Listeners listeners, GatewayConfig config, FilterStates.Prepared states) {
        this.listeners = listeners;
        this.config = config;
        this.states = states;
        this.indexes = listeners.indexes(config.listeners());
        for (Listeners.Serving each : listeners.serving()) {
            before.put(each.config().name(), each);
            addresses.put(each.listener().settings().bound(), each.listener());
        }
    }

    /** Returns the index of each listener to be, by its name. */
    Map<String, Integer> indexes() {
        return indexes;
    }

    /**
     * Reads certificates, and binds what is not bound yet.
     *
     * @throws StartException if something is unavailable; it names all of that, and nothing has changed
     */
    void prepare() throws StartException {
        try {
            for (ListenerConfig each : config.listeners()) {
                Listeners.Serving same = before.get(each.name());
                if (same != null && same.listener().settings().bound().equals(ListenerAssembly.address(each.bind()))) {
                    addresses.remove(same.listener().settings().bound(), same.listener());
                }
            }
            List<StartException> failures = new ArrayList<>();
            for (ListenerConfig each : config.listeners()) {
                try {
                    plan(each);
                } catch (StartException e) {
                    failures.add(e);
                }
            }
            try {
                planAdmin();
            } catch (StartException e) {
                failures.add(e);
            }
            StartException.throwAll(failures);
        } catch (StartException | RuntimeException | Error e) {
            undo();
            throw e;
        }
    }

    private void plan(ListenerConfig wanted) throws StartException {
        Listeners.Serving same = before.get(wanted.name());
        ListenerTls tls = tls(wanted, same == null ? null : same.tls());
        int index = Objects.requireNonNull(indexes.get(wanted.name()));
        ListenerSettings settings = ListenerAssembly.settings(index, wanted, tls == null ? null : tls.tls(), states);
        Listener listener;
        if (same != null && same.listener().settings().bound().equals(settings.bound())) {
            listener = same.listener();
        } else {
            listener = take(settings.bound());
        }
        if (listener == null) {
            listener = bind(listeners.dataPlane.of(settings.name()), settings, wanted.position());
        }
        planned.add(new Planned(wanted, settings, tls, listener));
    }

    private @Nullable ListenerTls tls(ListenerConfig wanted, @Nullable ListenerTls old) throws StartException {
        ServerTlsSettings settings = ListenerAssembly.tls(wanted);
        if (settings == null) {
            return null;
        }
        if (old != null && old.isCurrent(settings)) {
            return old;
        }
        try {
            ListenerTls tls = ListenerTls.read(settings);
            read.add(tls);
            return tls;
        } catch (IOException | GeneralSecurityException e) {
            throw StartException.at(
                    Objects.requireNonNull(wanted.protocols().tls()).position(), e);
        }
    }

    private @Nullable Listener take(SocketAddress address) {
        // At a start there are none, and the address is not hashed: a record's hash is linked at first, for 20 ms.
        return addresses.isEmpty() || !isFixed(address) ? null : addresses.remove(address);
    }

    /** Any free port is another one for each that wants it. */
    private static boolean isFixed(SocketAddress address) {
        return !(address instanceof InetSocketAddress tcp) || tcp.getPort() != 0;
    }

    private void planAdmin() throws StartException {
        AdminConfig wanted = config.admin();
        if (wanted == null || !wanted.enabled()) {
            return;
        }
        ListenerSettings settings = ListenerAssembly.admin(
                wanted, listeners.dataPlane.transport().descriptors().forAdmin());
        Listeners.Admin current = listeners.admin();
        if (current != null && current.listener().settings().bound().equals(settings.bound())) {
            admin = current;
            return;
        }
        AdminDoor door = new AdminDoor(AdminAccess.of(wanted));
        try {
            Listener listener = bind(listeners.dataPlane.ofAdmin(listeners.pages, door), settings, wanted.position());
            admin = new Listeners.Admin(listener, door);
        } catch (StartException e) {
            if (wanted.chosen()) {
                throw e;
            }
            // As of two gateways that share one network.
            log.warn(
                    "There is no admin listener, because {}: choose another port with 'admin: {port: PORT}',"
                            + " or none with 'admin: {enabled: false}'",
                    e.getMessage());
        }
    }

    private Listener bind(List<ListenerLoop> loops, ListenerSettings settings, Position position)
            throws StartException {
        try {
            Listener listener = Listener.bind(listeners.dataPlane.transport(), loops, settings);
            bound.add(listener);
            return listener;
        } catch (IOException e) {
            throw StartException.at(position, e);
        }
    }

    /** Gives everything back that was taken for the change. */
    void undo() {
        bound.forEach(Listener::drain);
        read.forEach(ListenerTls::close);
    }

    /**
     * Accepts connections as the configuration wants it from now on.
     *
     * @param drainNanos how long what serves no more may finish what it has begun
     */
    void commit(long drainNanos) {
        List<Listeners.Serving> serving = new ArrayList<>();
        for (Planned each : planned) {
            serving.add(new Listeners.Serving(each.config(), commit(each), each.tls()));
        }
        Listeners.Admin adminBefore = listeners.admin();
        boolean sameAdmin = Objects.equals(admin, adminBefore);
        if (admin != null && !sameAdmin) {
            admin.listener().accept();
            log.info("Admin at {}", Listeners.url(admin.listener()));
        } else if (admin != null && config.admin() != null) {
            admin.door().guard(AdminAccess.of(config.admin()));
        }
        listeners.serve(serving, admin);
        if (adminBefore != null && !sameAdmin) {
            listeners.closeSockets(List.of(adminBefore.listener()), drainNanos);
            listeners.drain(adminBefore.listener(), drainNanos);
        }
        List<Listener> gone = new ArrayList<>();
        for (Listeners.Serving old : before.values()) {
            if (serving.stream().noneMatch(each -> each.listener() == old.listener())) {
                log.info("Listener {} at {} drains", old.config().name(), Listeners.url(old.listener()));
                gone.add(old.listener());
            }
        }
        if (!gone.isEmpty()) {
            listeners.leave(gone, drainNanos);
        }
        for (Listeners.Serving old : before.values()) {
            ListenerTls tls = old.tls();
            if (tls != null && serving.stream().noneMatch(each -> each.tls() == tls)) {
                tls.close();
            }
        }
    }

    private Listener commit(Planned each) {
        Listener listener = each.listener();
        if (bound.contains(listener)) {
            listener.accept();
        } else if (listener.name().equals(each.config().name())) {
            Listeners.Serving same = Objects.requireNonNull(before.get(listener.name()));
            if (same.tls() != each.tls() || !ConfigEquality.isSame(same.config(), each.config())) {
                listener.replace(each.settings());
                if (same.tls() != null && each.tls() != null) {
                    Listeners.closeFormerClients(each.config(), listener, same.tls(), each.tls());
                }
            }
            return listener;
        } else {
            listener = listener.succeededBy(listeners.dataPlane.of(each.config().name()), each.settings());
        }
        Listeners.announce(listener);
        return listener;
    }
}
