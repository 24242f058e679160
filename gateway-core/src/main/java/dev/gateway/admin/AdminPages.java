package dev.gateway.admin;

import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.Metrics;
import io.netty.util.AsciiString;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the admin listener shows. Any thread may ask. */
public final class AdminPages {
    static final AsciiString ALLOW = new AsciiString("Allow");
    private static final AsciiString TEXT = new AsciiString("text/plain; charset=utf-8");
    private static final AsciiString HTML = new AsciiString("text/html; charset=utf-8");
    private static final AsciiString JSON = new AsciiString("application/json");
    private static final AsciiString PROMETHEUS = new AsciiString("text/plain; version=0.0.4; charset=utf-8");
    private static final AsciiString FORMAT_JSON = new AsciiString("format=json");
    private static final AsciiString JSON_TYPE = new AsciiString("application/json");

    private final Map<String, Page> pages = new LinkedHashMap<>();

    /** What health pages tell about. */
    public interface Health {
        /** Whether every listener is bound. */
        boolean isStarted();

        /** Whether new work should come here: false from the beginning of the drain. */
        boolean isReady();

        /** Returns how it is in one line, for people. */
        String detail();
    }

    /** A page. */
    interface Page {
        Content content(RequestHead head);

        /** Whether an event loop may make the content. */
        default boolean isQuick() {
            return true;
        }
    }

    /** An answer. */
    record Content(int status, AsciiString type, String text) {
        static Content text(int status, String line) {
            return new Content(status, TEXT, line + "\n");
        }
    }

    /** Makes the pages of a process. */
    public AdminPages(Health health, Metrics metrics) {
        quick("/", head -> new Content(200, HTML, index()));
        quick("/healthz", head -> Content.text(200, "ok"));
        quick("/live", head -> Content.text(200, "ok"));
        quick("/ready", head -> Content.text(health.isReady() ? 200 : 503, health.detail()));
        quick("/startup", head -> Content.text(health.isStarted() ? 200 : 503, health.detail()));
        slow(
                "/stats",
                head -> wantsJson(head)
                        ? new Content(200, JSON, metrics.statsJson())
                        : new Content(200, TEXT, metrics.statsText()));
        slow("/metrics", head -> new Content(200, PROMETHEUS, metrics.metricsText()));
    }

    private void quick(String path, Page page) {
        pages.put(path, page);
    }

    private void slow(String path, Function<RequestHead, Content> content) {
        pages.put(path, new Page() {
            @Override
            public Content content(RequestHead head) {
                return content.apply(head);
            }

            @Override
            public boolean isQuick() {
                return false;
            }
        });
    }

    @Nullable
    Page find(String path) {
        return pages.get(path);
    }

    private static boolean wantsJson(RequestHead head) {
        if (head.path().contains(FORMAT_JSON)) {
            return true;
        }
        AsciiString accept = head.fields().first(FieldName.ACCEPT);
        return accept != null && accept.contains(JSON_TYPE);
    }

    private String index() {
        StringBuilder html = new StringBuilder("<!doctype html><title>Gateway</title><h1>Gateway</h1><ul>");
        pages.keySet().stream().filter(path -> path.length() > 1).forEach(path -> html.append("<li><a href=\"")
                .append(path)
                .append("\">")
                .append(path)
                .append("</a>"));
        return html.append("</ul>\n").toString();
    }
}
