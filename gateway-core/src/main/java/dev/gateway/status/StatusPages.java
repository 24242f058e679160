package dev.gateway.status;

import dev.gateway.admin.AdminPages;
import dev.gateway.admin.AdminRequest;
import dev.gateway.admin.AdminResponse;
import dev.gateway.admin.Query;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.yaml.ConfigPrinter;
import dev.gateway.config.yaml.Json;
import dev.gateway.exchange.tunnel.OpenTunnel;
import dev.gateway.listener.OpenConnection;
import dev.gateway.runtime.CertificateReload;
import dev.gateway.runtime.DataPlane;
import dev.gateway.runtime.Generations;
import dev.gateway.runtime.Listeners;
import dev.gateway.runtime.ReloadHistory;
import dev.gateway.runtime.assembly.ActiveConfig;
import dev.gateway.status.explain.ExplainRequest;
import dev.gateway.status.explain.Explainer;
import dev.gateway.status.explain.Explanation;
import dev.gateway.status.explain.ExplanationText;
import dev.gateway.status.explain.LiveUpstreams;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.discovery.SourceState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Status pages: what the admin listener shows of the active configuration and of open connections. Called by the thread
 * that makes pages, which asks event loops for their own state.
 */
public final class StatusPages {
    private static final Set<String> QUESTION =
            Set.of("listener", "connect", "method", "host", "path", "header", "identity", "group", "client", "format");

    private final Supplier<@Nullable ActiveConfig> activeConfig;
    private final Listeners listeners;
    private final DataPlane dataPlane;
    private final CertificateReload certificates;
    private final Generations generations;
    private final @Nullable ReloadHistory reloads;

    /** Makes the pages of one gateway. */
    public StatusPages(
            Supplier<@Nullable ActiveConfig> activeConfig,
            Listeners listeners,
            DataPlane dataPlane,
            CertificateReload certificates,
            Generations generations,
            @Nullable ReloadHistory reloads) {
        this.activeConfig = activeConfig;
        this.listeners = listeners;
        this.dataPlane = dataPlane;
        this.certificates = certificates;
        this.generations = generations;
        this.reloads = reloads;
    }

    /** Adds them to the pages. */
    public void addTo(AdminPages pages) {
        pages.get("/config", asked -> AdminResponse.yaml(ConfigPrinter.yaml(config())));
        pages.get("/listeners", asked -> json("listeners", new ListenerView(current(), listeners).all()));
        pages.get("/routes", asked -> json("routes", RouteView.all(config())));
        pages.getAsync("/upstreams", asked -> new UpstreamView(
                        current(), dataPlane, generations.endpoints(), generations.filterStates())
                .all()
                .thenApply(StatusPages::json));
        pages.getAsync("/connections", this::connections);
        pages.getAsync("/tunnels", this::tunnels);
        pages.get("/certificates", asked -> json(CertificateView.of(listeners, certificates)));
        pages.get("/reloads", asked -> json("reloads", reloads == null ? List.of() : reloads.all()));
        pages.get("/explain", this::explain);
    }

    private ActiveConfig current() {
        ActiveConfig current = activeConfig.get();
        if (current == null) {
            throw new IllegalStateException("no configuration is active yet");
        }
        return current;
    }

    private GatewayConfig config() {
        return current().config;
    }

    private AdminResponse json(String name, List<Map<String, Object>> list) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("generation", current().snapshot.generation());
        json.put(name, list);
        return json(json);
    }

    private static AdminResponse json(Map<String, Object> json) {
        return AdminResponse.json(Json.write(json));
    }

    // ---- what is open now

    private CompletableFuture<AdminResponse> connections(AdminRequest asked) {
        Paging paging = Paging.of(asked.query());
        return paging.page(
                        "connections",
                        listeners.view(paging.after(), paging.enough()),
                        OpenConnection::number,
                        StatusPages::connection,
                        dataPlane.adminWork().pages())
                .thenApply(StatusPages::json);
    }

    private static Map<String, Object> connection(OpenConnection connection) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", connection.number());
        json.put("listener", connection.listener());
        json.put("client", connection.client());
        json.put("peer", connection.peer());
        json.put("protocol", connection.protocol());
        TlsInfo tls = connection.tls();
        if (tls != null) {
            Map<String, Object> secured = new LinkedHashMap<>();
            secured.put("protocol", tls.protocol());
            secured.put("cipher", tls.cipher());
            putIf(secured, "serverName", tls.serverName());
            putIf(secured, "clientSubject", tls.clientSubject());
            json.put("tls", secured);
        }
        json.put("draining", connection.draining());
        OpenConnection.Traffic traffic = connection.traffic();
        times(json, traffic.ageNanos(), traffic.idleNanos());
        json.put("receivedBytes", traffic.receivedBytes());
        json.put("sentBytes", traffic.sentBytes());
        return json;
    }

    private CompletableFuture<AdminResponse> tunnels(AdminRequest asked) {
        Paging paging = Paging.of(asked.query());
        int count = dataPlane.transport().loops().size();
        // Loops number their tunnels by themselves; here number n of loop i is n * count + i.
        List<CompletableFuture<List<Numbered>>> parts = new ArrayList<>();
        List<CompletableFuture<List<OpenTunnel>>> open =
                dataPlane.tunnels(loop -> Math.floorDiv(paging.after() - loop, count), paging.enough());
        for (int i = 0; i < open.size(); i++) {
            int loop = i;
            parts.add(open.get(i).thenApply(all -> all.stream()
                    .map(tunnel -> new Numbered(tunnel.number() * count + loop, tunnel))
                    .toList()));
        }
        return paging.page(
                        "tunnels",
                        parts,
                        Numbered::number,
                        StatusPages::tunnel,
                        dataPlane.adminWork().pages())
                .thenApply(StatusPages::json);
    }

    private record Numbered(long number, OpenTunnel tunnel) {}

    private static Map<String, Object> tunnel(Numbered numbered) {
        OpenTunnel tunnel = numbered.tunnel;
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", numbered.number);
        json.put("kind", tunnel.kind().name().toLowerCase(Locale.ROOT));
        json.put("listener", tunnel.client().listener());
        json.put("client", tunnel.client().address());
        json.put("peer", tunnel.client().peer());
        json.put("protocol", tunnel.client().protocol());
        json.put("target", tunnel.destination().target());
        json.put("route", tunnel.destination().route());
        json.put("upstream", tunnel.destination().upstream());
        json.put("endpoint", tunnel.destination().endpoint());
        if (!tunnel.client().identity().isEmpty()) {
            json.put("identity", tunnel.client().identity());
        }
        times(json, tunnel.traffic().ageNanos(), tunnel.traffic().idleNanos());
        json.put("receivedBytes", tunnel.traffic().receivedBytes());
        json.put("sentBytes", tunnel.traffic().sentBytes());
        return json;
    }

    private static void times(Map<String, Object> json, long ageNanos, long idleNanos) {
        json.put("ageMillis", TimeUnit.NANOSECONDS.toMillis(Math.max(0, ageNanos)));
        json.put("idleMillis", TimeUnit.NANOSECONDS.toMillis(Math.max(0, idleNanos)));
    }

    private static void putIf(Map<String, Object> json, String name, @Nullable String value) {
        if (value != null) {
            json.put(name, value);
        }
    }

    // ---- what would become of a request

    private AdminResponse explain(AdminRequest asked) {
        Query query = asked.query();
        query.allow(QUESTION);
        if (query.first("connect") == null && query.first("path") == null && query.first("host") == null) {
            return AdminResponse.text(
                    400,
                    "ask for a request, such as /explain?method=GET&host=a.example&path=/b"
                            + "&header=X-Tier:gold, or for a tunnel: /explain?connect=a.example:443&identity=alice");
        }
        ExplainRequest question = new ExplainRequest(
                query.first("listener"),
                query.first("connect"),
                query.first("method", "GET"),
                query.first("host"),
                query.first("path", "/"),
                query.all("header"),
                query.first("identity"),
                Set.copyOf(query.all("group")),
                query.first("client"));
        ActiveConfig current = current();
        Explanation explanation = new Explainer(
                        current.config, new Live(current), generations.tunnels().own())
                .explain(question);
        return asked.wantsJson() ? json(explanation.json()) : AdminResponse.text(200, ExplanationText.of(explanation));
    }

    private final class Live implements LiveUpstreams {
        private final ActiveConfig current;

        Live(ActiveConfig current) {
            this.current = current;
        }

        @Override
        public @Nullable Upstream find(String name) {
            return current.upstream(name);
        }

        @Override
        public List<SourceState> sources(String name) {
            return generations.endpoints().sources(name);
        }
    }
}
