package dev.gateway.admin;

import io.netty.util.AsciiString;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The dashboard: a page that asks for {@code /stats} each second, and its files. They are read from the jar whenever a
 * browser wants them, so a gateway whose dashboard nobody opens has neither the time nor the memory to pay. Any thread but
 * event loops may ask.
 */
final class Dashboard {
    static final String PATH = "/dashboard";
    static final String FILES = PATH + "/";

    /** The version of the charting library: Maven writes that of the parent POM into the file. */
    private static final String LIBRARY_VERSION = read("chartjs.version");

    private static final String LIBRARY =
            "META-INF/resources/webjars/chart.js/" + LIBRARY_VERSION + "/dist/chart.umd.min.js";

    private static final String LIBRARY_NAME = "chart.umd.min.js";
    private static final Pattern FILE = Pattern.compile("[a-z0-9]+\\.(js|css|svg)");
    private static final Map<String, AsciiString> TYPES = Map.of(
            "js", new AsciiString("text/javascript; charset=utf-8"),
            "css", new AsciiString("text/css; charset=utf-8"),
            "svg", new AsciiString("image/svg+xml"),
            "html", new AsciiString("text/html; charset=utf-8"));

    /** The page runs and shows nothing but what comes from here, and no other page may frame it. */
    private static final Map<AsciiString, AsciiString> FIELDS = Map.of(
            new AsciiString("Content-Security-Policy"),
            new AsciiString("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                    + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
            new AsciiString("Referrer-Policy"),
            new AsciiString("no-referrer"));

    /** What a program that embeds the gateway without the library answers; the page says so, and does without charts. */
    private static final AdminResponse NO_LIBRARY = AdminResponse.text(
            404, "for charts, add org.webjars.npm:chart.js:" + LIBRARY_VERSION + " to the class path");

    private Dashboard() {}

    /** Returns the page. */
    static AdminResponse page() {
        return content("index.html", Dashboard.class.getResourceAsStream("dashboard/index.html"));
    }

    /** Returns a file of the page, by its name without a path. */
    static AdminResponse file(String name) {
        if (name.equals(LIBRARY_NAME)) {
            InputStream library = Dashboard.class.getClassLoader().getResourceAsStream(LIBRARY);
            return library == null ? NO_LIBRARY : content(name, library);
        }
        return FILE.matcher(name).matches()
                ? content(name, Dashboard.class.getResourceAsStream("dashboard/" + name))
                : none();
    }

    private static String read(String name) {
        try (InputStream content = Dashboard.class.getResourceAsStream(name)) {
            if (content == null) {
                throw new IllegalStateException("the jar lacks " + name);
            }
            return new String(content.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static AdminResponse content(String name, @Nullable InputStream resource) {
        if (resource == null) {
            return none();
        }
        try (resource) {
            String text = new String(resource.readAllBytes(), StandardCharsets.UTF_8);
            AsciiString type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), AdminResponse.TEXT);
            return new AdminResponse(200, type, text, FIELDS).kept();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static AdminResponse none() {
        return AdminResponse.text(404, "the dashboard has no such file");
    }
}
