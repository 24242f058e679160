package dev.gateway.admin;

import dev.gateway.admin.AdminAccess.Audience;
import dev.gateway.observe.metrics.Metrics;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Admin endpoints: what the admin listener shows and does. Pages are added before the first request; then any
 * thread may ask. {@code openapi.json} describes each, and a test holds it to that.
 */
public final class AdminPages {
    private static final AsciiString HTML = new AsciiString("text/html; charset=utf-8");
    private static final AsciiString PAC = new AsciiString("application/x-ns-proxy-autoconfig");
    private static final Set<String> OF_LISTENERS = Set.of("/proxy.pac", "/no-proxy", "/allow-list");
    private static final String LISTENER = "?listener=";

    private final Map<String, Page> pages = new LinkedHashMap<>(); // those that act have POST before their path
    private final AdminWork work;

    /** What health pages tell about. */
    public interface Health {
        /** Whether every listener is bound. */
        boolean isStarted();

        /** Whether new work should come here: false from the beginning of the drain. */
        boolean isReady();

        /** Returns how it is in a word. */
        String word();

        /** Returns how it is, for people; begins with the word. */
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

    /**
     * What came of something that was asked for.
     *
     * @param status of the answer
     * @param text lines for people
     * @param next begins when the answer has been written; runs on an event loop, so it must not wait
     */
    public record Outcome(int status, String text, Runnable next) {
        private Outcome(int status, String text) {
            this(status, text, Outcome::nothing);
        }

        private static void nothing() {}

        /** Whether it is done, or has begun. */
        public boolean succeeded() {
            return status < 300;
        }

        /** It is done. */
        public static Outcome done(String text) {
            return new Outcome(200, text);
        }

        /** It is accepted and takes its time: it begins after the answer, because it may end the client's connection. */
        public static Outcome accepted(String text, Runnable operation) {
            return new Outcome(202, text, operation);
        }

        /** There is nothing of that name. */
        public static Outcome unknown(String text) {
            return new Outcome(404, text);
        }

        /** It could not be done, and nothing has changed. */
        public static Outcome failed(String text) {
            return new Outcome(422, text);
        }
    }

    /**
     * Makes the pages that every process has; others are added.
     *
     * @param work does what must not be done on event loops
     */
    public AdminPages(Health health, Metrics metrics, Tunnels tunnels, AdminWork work) {
        this.work = work;
        get("/", asked -> new AdminResponse(200, HTML, index(tunnels)));
        get(Dashboard.PATH, asked -> Dashboard.page());
        add(Dashboard.FILES, false, false, guarded(Audience.READERS, asked -> now(Dashboard.file(asked.rest()))));
        probe("/healthz", asked -> now(AdminResponse.text(200, "ok")));
        probe("/live", asked -> now(AdminResponse.text(200, "ok")));
        probe("/ready", asked -> state(asked, health, health.isReady()));
        probe("/startup", asked -> state(asked, health, health.isStarted()));
        watch(
                "/stats",
                asked -> asked.wantsJson()
                        ? AdminResponse.json(metrics.statsJson())
                        : AdminResponse.text(200, metrics.statsText()));
        watch("/history", asked -> AdminResponse.json(metrics.historyJson()));
        get("/failures", asked -> AdminResponse.json(metrics.failuresJson()));
        watch("/metrics", asked -> scrape(metrics.scrape(asked.accept())));
        get("/openapi.json", asked -> AdminResponse.json(description()).kept());
        get(
                "/proxy.pac",
                asked -> ofListener(asked, tunnels, PAC, name -> tunnels.proxyAutoConfig(name, asked.host())));
        get("/no-proxy", asked -> ofListener(asked, tunnels, AdminResponse.TEXT, tunnels::noProxy));
        get("/allow-list", asked -> ofListener(asked, tunnels, AdminResponse.TEXT, tunnels::allowList));
    }

    /** Tells probes a word, and the reasons to those who may read. */
    private CompletableFuture<AdminResponse> state(AdminRequest asked, Health health, boolean good) {
        int status = good ? 200 : 503;
        if (asked.access().wantsCredentialsOf(asked.head())) {
            return now(AdminResponse.text(status, health.word()));
        }
        if (asked.access().tokenFile() == null) {
            return now(state(asked, health, status));
        }
        return AdminWork.supply(work.pages(), () -> state(asked, health, status));
    }

    private static AdminResponse state(AdminRequest asked, Health health, int status) {
        boolean reads = asked.access().refusal(asked.head(), Audience.READERS) == null;
        return AdminResponse.text(status, reads ? health.detail() : health.word());
    }

    private static CompletableFuture<AdminResponse> now(AdminResponse content) {
        return CompletableFuture.completedFuture(content);
    }

    private static String description() {
        try (InputStream in = Objects.requireNonNull(AdminPages.class.getResourceAsStream("openapi.json"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static AdminResponse scrape(Metrics.Scrape scrape) {
        return new AdminResponse(200, new AsciiString(scrape.type()), scrape.text());
    }

    /** Answers for the listener that the query names, or for the only one there is. */
    private static AdminResponse ofListener(
            AdminRequest asked, Tunnels tunnels, AsciiString type, Function<String, @Nullable String> page) {
        List<String> listeners = tunnels.listeners();
        String name = asked.query().first("listener", listeners.size() == 1 ? listeners.get(0) : "");
        String text = listeners.contains(name) ? page.apply(name) : null;
        return text == null
                ? AdminResponse.text(404, "name a listener with ?listener=, one of: " + String.join(", ", listeners))
                : new AdminResponse(200, type, text.endsWith("\n") ? text : text + "\n");
    }

    /** Adds a page for everybody that is there at once; it is made on an event loop. */
    private void probe(String path, Page.Answer answer) {
        add(path, false, true, answer);
    }

    /** Adds a page for those who collect metrics; it is made by another thread than event loops. */
    private void watch(String path, Function<AdminRequest, AdminResponse> content) {
        add(path, false, true, guarded(Audience.WATCHERS, asked -> now(content.apply(asked))));
    }

    /**
     * Adds a page for those who may look closer; {@link IllegalArgumentException} says what is wrong with the question.
     *
     * @param content made by another thread than event loops
     */
    public void get(String path, Function<AdminRequest, AdminResponse> content) {
        getAsync(path, asked -> now(content.apply(asked)));
    }

    /** Adds a page for those who may look closer, whose answer others give. */
    public void getAsync(String path, Function<AdminRequest, CompletableFuture<AdminResponse>> content) {
        add(path, false, true, guarded(Audience.READERS, content));
    }

    private Page.Answer guarded(Audience audience, Function<AdminRequest, CompletableFuture<AdminResponse>> content) {
        return asked -> AdminWork.supply(work.pages(), () -> {
                    AdminResponse refusal = asked.access().refusal(asked.head(), audience);
                    if (refusal != null) {
                        return now(refusal);
                    }
                    try {
                        return content.apply(asked);
                    } catch (IllegalArgumentException e) {
                        return now(AdminResponse.text(400, String.valueOf(e.getMessage())));
                    }
                })
                .thenCompose(answer -> answer);
    }

    /**
     * Adds an action, for clients that are allowed to use it.
     *
     * @param path with a slash at its end if what follows says more
     * @param action called by another thread than event loops; returns at once
     */
    public void post(String path, Function<AdminRequest, CompletableFuture<Outcome>> action) {
        add(path, true, true, asked -> AdminWork.supply(work.actions(), () -> {
                    AdminResponse refusal = asked.access().refusal(asked.head(), Audience.OPERATORS);
                    return refusal == null ? action.apply(asked).thenApply(AdminPages::told) : now(refusal);
                })
                .thenCompose(answer -> answer));
    }

    private void add(String path, boolean acts, boolean listed, Page.Answer answer) {
        pages.put((acts ? "POST " : "") + path, new Page(path, acts, listed, answer));
    }

    private static AdminResponse told(Outcome outcome) {
        return AdminResponse.text(outcome.status(), outcome.text()).then(outcome.next());
    }

    /** Returns the page of a path that is shown, or that acts; null if there is none. */
    @Nullable
    Page find(String path, boolean acts) {
        String kind = acts ? "POST " : "";
        Page page = pages.get(kind + path);
        int slash = path.indexOf('/', 1);
        return page != null || slash < 0 ? page : pages.get(kind + path.substring(0, slash + 1));
    }

    private String index(Tunnels tunnels) {
        StringBuilder html = new StringBuilder("<!doctype html><title>Gateway</title><h1>Gateway</h1><ul>");
        pages.values().stream().filter(Page::listed).forEach(page -> {
            if (page.acts()) {
                html.append("<li>POST ").append(page.path());
            } else if (OF_LISTENERS.contains(page.path())) {
                // Names of the configuration, which need no escaping.
                tunnels.listeners().forEach(name -> link(html, page.path() + LISTENER + name));
            } else if (page.path().length() > 1) {
                link(html, page.path());
            }
        });
        return html.append("</ul>\n").toString();
    }

    private static void link(StringBuilder html, String path) {
        html.append("<li><a href=\"").append(path).append("\">").append(path).append("</a>");
    }
}
