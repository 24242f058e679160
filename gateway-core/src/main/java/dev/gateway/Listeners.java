package dev.gateway;

import dev.gateway.admin.AdminPages;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.ListenerConfig;
import dev.gateway.listener.Listener;
import dev.gateway.listener.ListenerSettings;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All listeners of a gateway, that of the admin pages included, from binding to the end of their connections. */
final class Listeners {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    /** How long connections that were closed by force may take to be gone. */
    private static final long FORCED_CLOSE_MILLIS = 1_000;

    private final List<ListenerSettings> settings = new ArrayList<>();
    private final List<Listener> listeners = new ArrayList<>();
    private @Nullable Listener admin;

    /** Reads the certificates of all listeners. */
    void prepare(List<ListenerConfig> configs) throws StartException {
        for (ListenerConfig config : configs) {
            settings.add(ListenerAssembly.settings(settings.size(), config));
        }
    }

    /** Binds all listeners; the admin listener first, so that the start can be watched. */
    void bind(GatewayConfig config, Loops loops, AdminPages.Health health) throws IOException {
        if (config.admin() != null) {
            admin = Listener.bind(
                    loops.transport(), loops.ofAdmin(health), ListenerAssembly.admin(settings.size(), config.admin()));
        }
        for (ListenerSettings each : settings) {
            listeners.add(Listener.bind(loops.transport(), loops.of(each.name()), each));
        }
    }

    /** Tells the log where each can be reached. */
    void announce() {
        for (Listener listener : listeners) {
            String protocols = listener.settings().protocols().http2() == null ? "HTTP/1.1" : "HTTP/1.1 and h2";
            log.info("Listener {} at {} ({})", listener.name(), url(listener), protocols);
        }
        if (admin != null) {
            log.info("Admin at {}", url(admin));
        }
    }

    private static String url(Listener listener) {
        if (listener.settings().bound() instanceof ListenerSettings.Address.Unix unix) {
            return "unix:" + unix.path();
        }
        InetSocketAddress address = (InetSocketAddress) listener.address();
        String host = address.getAddress().isAnyLocalAddress()
                ? "localhost" // of all addresses the one to try first
                : bracketed(address.getAddress().getHostAddress());
        return (listener.settings().tls() == null ? "http://" : "https://") + host + ":" + address.getPort() + "/";
    }

    private static String bracketed(String ip) {
        return ip.indexOf(':') < 0 ? ip : "[" + ip + "]";
    }

    Map<String, String> urls() {
        Map<String, String> urls = new LinkedHashMap<>();
        listeners.forEach(listener -> urls.put(listener.name(), url(listener)));
        return urls;
    }

    @Nullable
    String adminUrl() {
        return admin == null ? null : url(admin);
    }

    int port(String name) {
        return Stream.concat(listeners.stream(), Stream.ofNullable(admin))
                .filter(each -> each.name().equals(name) && each.address() instanceof InetSocketAddress)
                .mapToInt(each -> ((InetSocketAddress) each.address()).getPort())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no TCP listener " + name));
    }

    /** Counts clients' connections, without those of the admin listener. */
    int connections() {
        return listeners.stream().mapToInt(Listener::connections).sum();
    }

    /**
     * Accepts no more connections, lets what runs on them finish for some time, then ends what is left. The admin
     * listener goes on.
     */
    void drain(long nanos) {
        long start = System.nanoTime();
        listeners.forEach(Listener::stopAccepting);
        List<Future<Void>> drained = listeners.stream().map(Listener::drain).toList();
        boolean finished = true;
        for (Future<Void> each : drained) {
            long left = nanos - (System.nanoTime() - start);
            finished &= each.awaitUninterruptibly(Math.max(1, left), TimeUnit.NANOSECONDS);
        }
        if (!finished) {
            log.warn("Drain timeout: {} connections are closed with what runs on them", connections());
        }
        closeConnections(drained);
    }

    /** Accepts no more connections and ends those there are. The admin listener goes on. */
    void close() {
        listeners.forEach(Listener::stopAccepting);
        closeConnections(listeners.stream().map(Listener::drain).toList());
    }

    /** Each exchange ends on its loop, which is given the time to count and log it. */
    private void closeConnections(List<Future<Void>> drained) {
        listeners.forEach(Listener::closeConnections);
        drained.forEach(each -> each.awaitUninterruptibly(FORCED_CLOSE_MILLIS, TimeUnit.MILLISECONDS));
    }

    /** Closes every listening socket and the connections of the admin listener. */
    void stop() {
        listeners.forEach(Listener::stopAccepting);
        if (admin != null) {
            admin.stopAccepting();
            admin.closeConnections();
        }
    }

    /** Frees certificates; to be called when the event loops have ended. */
    void free() {
        for (ListenerSettings each : settings) {
            if (each.tls() != null) {
                each.tls().close();
            }
        }
    }
}
