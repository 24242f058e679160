package dev.gateway.runtime;

import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.files.FileFault;
import dev.gateway.files.FileWatch;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.observe.metrics.state.CertificateExpiry;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.ParentProxy;
import dev.gateway.upstream.dial.UpstreamSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Certificate reload: reads certificates, keys and CAs again when their files have changed, whatever the configuration's
 * own file is like by then. New handshakes use them; connections that there are stay. What cannot be used changes nothing.
 * Used by the thread that reloads; any thread may ask for the problems and expiries.
 */
public final class CertificateReload {
    private static final Logger log = LoggerFactory.getLogger(CertificateReload.class);

    private final Listeners listeners;
    private final DataPlane dataPlane;
    private final Map<Upstream, FileWatch> upstreams = new HashMap<>();
    private final Map<String, String> failures = new TreeMap<>(); // by whose they are
    private final ExpiryWarnings warnings = new ExpiryWarnings(System::nanoTime);
    private volatile List<Upstream> activeConfig = List.of();
    private volatile List<String> problems = List.of();

    /** Makes it for the certificates of these listeners. */
    public CertificateReload(Listeners listeners, DataPlane dataPlane) {
        this.listeners = listeners;
        this.dataPlane = dataPlane;
    }

    /** Watches the files of upstreams; to be called before they are read. */
    void watch(List<Upstream> added) {
        for (Upstream upstream : added) {
            UpstreamSettings settings = upstream.settings();
            Stream<UpstreamConfig.@Nullable Tls> parents =
                    settings.dialSettings().parents().all().stream().map(ParentProxy::tls);
            List<UpstreamConfig.Tls> all = Stream.concat(Stream.of(settings.tls()), parents)
                    .filter(Objects::nonNull)
                    .toList();
            if (!all.isEmpty()) {
                List<Path> files = all.stream()
                        .flatMap(tls -> Stream.of(tls.caFile(), tls.certFile(), tls.keyFile()))
                        .filter(Objects::nonNull)
                        .toList();
                upstreams.put(upstream, new FileWatch(files));
            }
        }
    }

    /** Watches the files of these upstreams no more. */
    void forget(List<Upstream> former) {
        former.forEach(upstreams::remove);
    }

    /** Watches the files of no other upstreams any more, and reads those again that are not as they are used. */
    void keepOnly(List<Upstream> used) {
        activeConfig = List.copyOf(used);
        Set<Upstream> kept = new HashSet<>(used);
        upstreams.keySet().removeIf(upstream -> !kept.contains(upstream));
        Set<String> failed = Set.copyOf(failures.keySet());
        failures.clear(); // those of listeners have been read, if they were not as they are used
        problems = List.of();
        upstreams.forEach((upstream, watch) -> {
            if (watch.hasChanged() || failed.contains(name(upstream))) {
                renew(upstream, watch);
            }
        });
    }

    /** Looks at all files, and reads those again that have changed and are written no more. */
    public void look() {
        if (warnings.isDue()) {
            ExpiryWarnings.tell(expiries(), Instant.now());
        }
        for (Listeners.Serving each : listeners.serving()) {
            ListenerTls tls = each.tls();
            if (tls != null && tls.isDue()) {
                String name = "listener " + each.config().name();
                renew(
                        name,
                        Objects.requireNonNull(each.config().protocols().tls()).position() + ": " + name,
                        () -> listeners.renew(each),
                        tls::unread);
            }
        }
        upstreams.forEach((upstream, watch) -> {
            if (watch.hasSettled()) {
                renew(upstream, watch);
            }
        });
    }

    private void renew(Upstream upstream, FileWatch watch) {
        watch.reading();
        renew(name(upstream), name(upstream), () -> dataPlane.pools().renewTls(upstream), watch::unread);
    }

    private static String name(Upstream upstream) {
        return "upstream " + upstream.name();
    }

    /** What reads files again. */
    private interface Reading {
        void read() throws IOException, GeneralSecurityException;
    }

    /**
     * Reads files again.
     *
     * @param unread called if they cannot be read
     */
    private void renew(String owner, String place, Reading reading, Runnable unread) {
        try {
            reading.read();
            failures.remove(owner);
            log.info("Loaded new certificates for {}", owner);
            ExpiryWarnings.tell(
                    expiries().stream()
                            .filter(each -> owner.equals(each.kind() + " " + each.owner()))
                            .toList(),
                    Instant.now());
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            String problem = place + ": keeping the previous certificates: " + FileFault.message(e);
            if (!problem.equals(failures.put(owner, problem))) {
                log.warn(problem);
            }
            if (e instanceof IOException) {
                unread.run();
            }
        }
        problems = List.copyOf(failures.values());
    }

    /** Returns why certificates are still the former ones, a line each. */
    public List<String> problems() {
        return problems;
    }

    /** Returns when the certificates end that are shown to clients and to upstreams. */
    public List<CertificateExpiry> expiries() {
        List<CertificateExpiry> expiries = new ArrayList<>();
        for (Listeners.Serving each : listeners.serving()) {
            if (each.tls() != null) {
                ServerTls tls = each.tls().tls();
                tls.certificates()
                        .forEach(certificate -> expiries.add(
                                CertificateExpiry.of("listener", each.config().name(), certificate)));
            }
        }
        for (Upstream upstream : activeConfig) {
            dataPlane
                    .pools()
                    .certificates(upstream)
                    .forEach(certificate ->
                            expiries.add(CertificateExpiry.of("upstream", upstream.name(), certificate)));
        }
        return expiries;
    }
}
