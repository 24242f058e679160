package dev.gateway.admin;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * A response of the admin listener.
 *
 * @param fields besides those that every answer has
 * @param next begins when the answer has been written, or when nobody is there any more to read it; runs on an event loop,
 *     so it must not wait
 */
public record AdminResponse(
        int status, AsciiString type, String text, Map<AsciiString, AsciiString> fields, Runnable next) {
    static final AsciiString ETAG = new AsciiString("ETag");
    private static final Map<AsciiString, AsciiString> SOON =
            Map.of(new AsciiString("Retry-After"), new AsciiString("1"));
    private static final int UNAVAILABLE = 503;
    static final AsciiString TEXT = new AsciiString("text/plain; charset=utf-8");
    private static final AsciiString JSON = new AsciiString("application/json");
    private static final AsciiString YAML = new AsciiString("application/yaml");

    AdminResponse(int status, AsciiString type, String text) {
        this(status, type, text, Map.of());
    }

    AdminResponse(int status, AsciiString type, String text, Map<AsciiString, AsciiString> fields) {
        this(status, type, text, fields, AdminResponse::nothing);
    }

    private static void nothing() {}

    /** Returns an answer that clients may keep, and ask whether it is still the same. */
    AdminResponse kept() {
        CRC32C sum = new CRC32C();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        AsciiString tag = new AsciiString('"' + Long.toHexString(sum.getValue()) + '-' + text.length() + '"');
        Map<AsciiString, AsciiString> all = new LinkedHashMap<>(fields);
        all.put(ETAG, tag);
        return new AdminResponse(status, type, text, all, next);
    }

    /** Returns the same answer, after which something begins. */
    AdminResponse then(Runnable next) {
        return new AdminResponse(status, type, text, fields, next);
    }

    /** Returns a line for people. What is not available now may be asked for again soon. */
    public static AdminResponse text(int status, String line) {
        return new AdminResponse(
                status, TEXT, line.endsWith("\n") ? line : line + "\n", status == UNAVAILABLE ? SOON : Map.of());
    }

    /** Returns what is meant for programs. */
    public static AdminResponse json(String json) {
        return new AdminResponse(200, JSON, json);
    }

    /** Returns YAML, which changes seldom. */
    public static AdminResponse yaml(String yaml) {
        return new AdminResponse(200, YAML, yaml).kept();
    }
}
