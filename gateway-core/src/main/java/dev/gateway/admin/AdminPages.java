package dev.gateway.admin;

import dev.gateway.message.Authority;
import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.Metrics;
import io.netty.util.AsciiString;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the admin listener shows and does. Any thread may ask. */
public final class AdminPages {
    static final AsciiString TEXT = new AsciiString("text/plain; charset=utf-8");
    private static final AsciiString HTML = new AsciiString("text/html; charset=utf-8");
    private static final AsciiString JSON = new AsciiString("application/json");
    private static final AsciiString PAC = new AsciiString("application/x-ns-proxy-autoconfig");
    private static final Set<String> OF_LISTENERS = Set.of("/proxy.pac", "/no-proxy", "/allow-list");
    private static final String LISTENER = "?listener=";
    private static final AsciiString FORMAT_JSON = new AsciiString("format=json");
    private static final AsciiString JSON_TYPE = new AsciiString("application/json");

    private static final int MAX_ASKER = 64;

    private final Map<String, Page> pages = new LinkedHashMap<>();
    private final Executor worker;
    private volatile AdminAccess access = AdminAccess.NONE;

    /** What health pages tell about. */
    public interface Health {
        /** Whether every listener is bound. */
        boolean isStarted();

        /** Whether new work should come here: false from the beginning of the drain. */
        boolean isReady();

        /** Returns how it is, for people; the first word of the first line for programs. */
        String detail();
    }

    /** What pages tell clients and operators of tunnels, by the name of a listener; null if it offers none. */
    public interface Tunnels {
        /** Returns the listeners that offer tunnels. */
        List<String> listeners();

        /**
         * Returns the script for proxy auto-configuration; null also for a socket file.
         *
         * @param host by which clients reach this machine
         */
        @Nullable
        String proxyAutoConfig(String listener, String host);

        /** Returns a value for {@code NO_PROXY}. */
        @Nullable
        String noProxy(String listener);

        /** Returns what audit mode has seen, as a part of a configuration that allows it. */
        @Nullable
        String allowList(String listener);
    }

    /** What can be had done; each returns at once. */
    public interface Operations {
        /**
         * Reads the configuration again.
         *
         * @param asker who wants it, for the log
         */
        CompletableFuture<Outcome> reload(String asker);

        /** Stops taking new work and finishes what runs; the process stays. */
        void drain(String asker);

        /** Drains, then ends the process. */
        void quit(String asker);
    }

    /**
     * What came of something that was asked for.
     *
     * @param text lines for people
     */
    public record Outcome(boolean succeeded, String text) {}

    /** A page; the answer need not be there at once. */
    interface Page {
        CompletableFuture<Content> content(RequestHead head);

        /** Whether it does something, and so is asked for by POST; else by GET. */
        default boolean acts() {
            return false;
        }

        default boolean takes(Method method) {
            return acts() ? method.equals(Method.POST) : method.equals(Method.GET) || method.equals(Method.HEAD);
        }
    }

    /**
     * An answer.
     *
     * @param fields besides those that every answer has
     */
    record Content(int status, AsciiString type, String text, Map<AsciiString, AsciiString> fields) {
        Content(int status, AsciiString type, String text) {
            this(status, type, text, Map.of());
        }

        static Content text(int status, String line) {
            return new Content(status, TEXT, line + "\n");
        }
    }

    /**
     * Makes the pages of a process.
     *
     * @param worker does what must not be done on event loops
     */
    public AdminPages(Health health, Metrics metrics, Operations operations, Tunnels tunnels, Executor worker) {
        this.worker = worker;
        quick("/", head -> new Content(200, HTML, index(tunnels)));
        slow(Dashboard.PATH, head -> Dashboard.page());
        quick("/healthz", head -> Content.text(200, "ok"));
        quick("/live", head -> Content.text(200, "ok"));
        quick("/ready", head -> Content.text(health.isReady() ? 200 : 503, health.detail()));
        quick("/startup", head -> Content.text(health.isStarted() ? 200 : 503, health.detail()));
        slow(
                "/stats",
                head -> wantsJson(head)
                        ? new Content(200, JSON, metrics.statsJson())
                        : new Content(200, TEXT, metrics.statsText()));
        slow("/metrics", head -> scrape(metrics.scrape(accept(head))));
        slow("/proxy.pac", head -> ofListener(head, tunnels, PAC, name -> tunnels.proxyAutoConfig(name, host(head))));
        slow("/no-proxy", head -> ofListener(head, tunnels, TEXT, tunnels::noProxy));
        slow("/allow-list", head -> ofListener(head, tunnels, TEXT, tunnels::allowList));
        action("/reload", asker -> operations.reload(asker).thenApply(AdminPages::told));
        action("/drain", asker -> begun("draining; /ready tells how far", () -> operations.drain(asker)));
        action("/quit", asker -> begun("draining, then ending", () -> operations.quit(asker)));
    }

    /** Answers for the listener that the query names, or for the only one there is. */
    private static Content ofListener(
            RequestHead head, Tunnels tunnels, AsciiString type, Function<String, @Nullable String> page) {
        List<String> listeners = tunnels.listeners();
        String query = head.path().toString(head.queryStart());
        String name = query.startsWith(LISTENER)
                ? query.substring(LISTENER.length())
                : listeners.size() == 1 ? listeners.get(0) : "";
        String text = listeners.contains(name) ? page.apply(name) : null;
        return text == null
                ? Content.text(404, "name a listener with ?listener=, one of: " + String.join(", ", listeners))
                : new Content(200, type, text.endsWith("\n") ? text : text + "\n");
    }

    private static String host(RequestHead head) {
        AsciiString authority = head.authority();
        String host = authority.subSequence(0, Authority.hostLength(authority)).toString();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    /** Lets others have something done from now on. */
    public void admit(AdminAccess others) {
        access = others;
    }

    private void quick(String path, Function<RequestHead, Content> content) {
        pages.put(path, head -> CompletableFuture.completedFuture(content.apply(head)));
    }

    private void slow(String path, Function<RequestHead, Content> content) {
        pages.put(path, head -> CompletableFuture.supplyAsync(() -> content.apply(head), worker));
    }

    private void action(String path, Function<String, CompletableFuture<Content>> action) {
        pages.put(path, new Page() {
            @Override
            public CompletableFuture<Content> content(RequestHead head) {
                return CompletableFuture.supplyAsync(() -> access.refusal(head), worker)
                        .thenCompose(refusal -> refusal == null
                                ? action.apply(asker(head))
                                : CompletableFuture.completedFuture(refusal));
            }

            @Override
            public boolean acts() {
                return true;
            }
        });
    }

    private static CompletableFuture<Content> begun(String line, Runnable operation) {
        operation.run();
        return CompletableFuture.completedFuture(Content.text(202, line));
    }

    private static Content told(Outcome outcome) {
        return Content.text(outcome.succeeded() ? 200 : 422, outcome.text());
    }

    /** Returns what the asker says of itself, as far as it is fit for a log. */
    private static String asker(RequestHead head) {
        AsciiString name = head.fields().first(AdminAccess.REQUESTED_BY);
        if (name == null) {
            return "the holder of the token";
        }
        String text = name.toString().replaceAll("[^ -~]", "?");
        return text.substring(0, Math.min(text.length(), MAX_ASKER));
    }

    @Nullable
    Page find(String path) {
        return path.startsWith(Dashboard.FILES)
                ? head -> CompletableFuture.supplyAsync(
                        () -> Dashboard.file(path.substring(Dashboard.FILES.length())), worker)
                : pages.get(path);
    }

    private static Content scrape(Metrics.Scrape scrape) {
        return new Content(200, new AsciiString(scrape.type()), scrape.text());
    }

    private static String accept(RequestHead head) {
        AsciiString accept = head.fields().first(FieldName.ACCEPT);
        return accept == null ? "" : accept.toString();
    }

    private static boolean wantsJson(RequestHead head) {
        if (head.path().contains(FORMAT_JSON)) {
            return true;
        }
        AsciiString accept = head.fields().first(FieldName.ACCEPT);
        return accept != null && accept.contains(JSON_TYPE);
    }

    private String index(Tunnels tunnels) {
        StringBuilder html = new StringBuilder("<!doctype html><title>Gateway</title><h1>Gateway</h1><ul>");
        pages.forEach((path, page) -> {
            if (page.acts()) {
                html.append("<li>POST ").append(path);
            } else if (OF_LISTENERS.contains(path)) {
                // Names of the configuration, which need no escaping.
                tunnels.listeners().forEach(name -> link(html, path + LISTENER + name));
            } else if (path.length() > 1) {
                link(html, path);
            }
        });
        return html.append("</ul>\n").toString();
    }

    private static void link(StringBuilder html, String path) {
        html.append("<li><a href=\"").append(path).append("\">").append(path).append("</a>");
    }
}
