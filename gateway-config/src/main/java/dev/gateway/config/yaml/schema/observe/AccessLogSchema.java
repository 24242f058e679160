package dev.gateway.config.yaml.schema.observe;

import static java.util.Map.entry;

import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.observe.AccessLogConfig.Choice;
import dev.gateway.config.observe.AccessLogConfig.Exchanges;
import dev.gateway.config.observe.AccessLogConfig.Fields;
import dev.gateway.config.observe.AccessLogConfig.Format;
import dev.gateway.config.observe.AccessLogConfig.Redact;
import dev.gateway.config.observe.AccessLogConfig.Rotation;
import dev.gateway.config.observe.AccessLogConfig.Syslog;
import dev.gateway.config.observe.AccessLogTemplate;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the access log is, key by key. */
public final class AccessLogSchema {
    private static final String STDOUT = "stdout";
    private static final String SAMPLE = "Share of successful exchanges to log. Failed ones are always logged.";
    private static final List<String> FACILITIES = List.of(
            "kern",
            "user",
            "mail",
            "daemon",
            "auth",
            "syslog",
            "lpr",
            "news",
            "uucp",
            "cron",
            "authpriv",
            "ftp",
            "ntp",
            "security",
            "console",
            "clock",
            "local0",
            "local1",
            "local2",
            "local3",
            "local4",
            "local5",
            "local6",
            "local7");

    /** Parameters by which tokens, passwords and signatures of URLs are often sent. */
    private static final List<String> TOKEN_PARAMETERS = List.of(
            "access_token",
            "refresh_token",
            "id_token",
            "token",
            "auth",
            "jwt",
            "api_key",
            "apikey",
            "key",
            "password",
            "passwd",
            "pwd",
            "secret",
            "client_secret",
            "sig",
            "signature",
            "code",
            "X-Amz-Signature",
            "X-Amz-Credential",
            "X-Amz-Security-Token",
            "X-Goog-Signature");

    /** What others call formats. */
    private static final Map<String, String> FORMATS = Map.of(
            "clf", "combined", "common", "combined", "text", "combined", "none", "off", "false", "off"); // Traefik

    private static final ScalarType<Exchanges> EXCHANGES = Types.words(
            Types.ordered(
                    entry("all", Exchanges.ALL), entry("failed", Exchanges.FAILED), entry("none", Exchanges.NONE)),
            Map.of(),
            Map.of("error", "failed", "errors", "failed", "false", "none", "off", "none", "true", "all", "on", "all"));

    private static final ObjectType<Rotation> ROTATION =
            ObjectType.of("rotation section", "When the gateway renames the file to FILE.1, FILE.2 and so on.", o -> {
                var maxSize = o.defaulted(
                        "maxSize",
                        Types.SIZE,
                        100L << 20,
                        Rotation::maxSize,
                        "Maximum size of the file; 0 means no limit.");
                var maxFiles = o.defaulted(
                        "maxFiles", Types.integer(1, 1000), 10, Rotation::maxFiles, "Number of former files to keep.");
                var maxAge = o.defaulted(
                        "maxAge",
                        Types.DURATION,
                        Duration.ZERO,
                        Rotation::maxAge,
                        "Maximum age of the file, since the gateway opened it; 0s means no limit.");
                return v -> {
                    if (v.get(maxSize) == 0 && v.get(maxAge).isZero()) {
                        v.error(v.position(), "rotation needs maxSize or maxAge: add one, or remove rotation");
                    }
                    return new Rotation(v.position(), v.get(maxSize), v.get(maxFiles), v.get(maxAge));
                };
            });

    private static final ObjectType<Syslog> SYSLOG =
            ObjectType.of("syslog section", "A receiver of RFC 5424 messages.", o -> {
                var address =
                        o.required("address", Types.HOST, Syslog::host, "Host name or IP address of the receiver.");
                var port = o.defaulted("port", Types.integer(1, 65535), 514, Syslog::port, "Port of the receiver.");
                var transport = o.defaulted(
                        "transport",
                        Types.words(entry("udp", Syslog.Transport.UDP), entry("tcp", Syslog.Transport.TCP)),
                        Syslog.Transport.UDP,
                        Syslog::transport,
                        "udp sends one datagram a line. tcp counts octets (RFC 6587).");
                var facility = o.defaulted(
                        "facility", Types.words(facilities(), Map.of()), 16, Syslog::facility, "Facility of messages.");
                var appName = o.defaulted(
                        "appName",
                        Types.text("[!-~]{1,48}", "up to 48 printable characters without spaces"),
                        "gateway",
                        Syslog::appName,
                        "Application name of messages.");
                o.single(text -> text.matches("[A-Za-z0-9.-]+:[0-9]+")
                        ? "{address: " + text.replace(":", ", port: ") + "}"
                        : null);
                return v -> new Syslog(
                        v.position(), v.get(address), v.get(port), v.get(transport), v.get(facility), v.get(appName));
            });

    private static final ObjectType<Redact> REDACT =
            ObjectType.of("redact section", "What the gateway replaces with asterisks.", o -> {
                var queryKeys = o.defaulted(
                        "queryKeys",
                        new ListType<>(Types.text("[^&=#]+", "the name of a query parameter"), 0),
                        TOKEN_PARAMETERS,
                        Redact::queryKeys,
                        "Query parameters of the path and of Referer. A list here replaces the default list.");
                var headers = o.defaulted(
                        "headers",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.<String>of(),
                        Redact::headers,
                        "Logged headers. Authorization, Cookie and the like are always redacted.");
                return v -> new Redact(v.position(), v.get(queryKeys), v.get(headers));
            });

    /** What a rule says of the log. */
    public static final ObjectType<Choice> CHOICE = ObjectType.of(
            "accessLog section of a rule",
            "Which exchanges of a rule the log has. Keys that it does not have come from the " + "accessLog section.",
            o -> {
                var exchanges = o.optional("exchanges", EXCHANGES, Choice::exchanges, "Which exchanges the log has.");
                var sample = o.optional("sample", Types.SHARE, Choice::sample, SAMPLE);
                o.single(text -> Types.isOff(text) ? "{exchanges: none}" : null);
                o.foreign("enabled off disabled", "write exchanges: none for no lines");
                o.foreign(
                        "format template path file syslog fields",
                        "only the accessLog section of the file has it: remove it");
                return v -> new Choice(v.find(exchanges), v.find(sample));
            });

    /** The log. */
    public static final ObjectType<AccessLogConfig> ACCESS_LOG =
            ObjectType.of("accessLog section", "The access log: one line for each exchange.", o -> {
                var format = o.defaulted(
                        "format",
                        Types.words(
                                Types.ordered(
                                        entry("json", Format.JSON),
                                        entry("combined", Format.COMBINED),
                                        entry("off", Format.OFF)),
                                Map.of(),
                                FORMATS),
                        Format.JSON,
                        log -> log.lines().format() == Format.TEMPLATE
                                ? null
                                : log.lines().format(),
                        "Format of lines. off turns the log off.");
                var template = o.optional(
                        "template",
                        AccessLogTemplates.TYPE,
                        log -> log.lines().template(),
                        "Template of lines, instead of format.");
                var path = o.defaulted(
                        "path",
                        Types.word("[\\s\\S]+", "stdout or a file name"),
                        STDOUT,
                        log -> path(log.target()),
                        "stdout, or a file that the gateway appends to.");
                var rotation = o.optional(
                        "rotation",
                        ROTATION,
                        log -> log.target().rotation(),
                        "When the gateway renames the file. Without this key it never does.");
                var syslog = o.optional(
                        "syslog", SYSLOG, log -> log.target().syslog(), "Receiver of lines, instead of path.");
                var exchanges = o.defaulted(
                        "exchanges",
                        EXCHANGES,
                        Exchanges.ALL,
                        log -> log.choice().exchanges(),
                        "Which exchanges the log has. Rules may override it.");
                var sample = o.defaulted(
                        "sample", Types.SHARE, 1.0, log -> log.choice().sample(), SAMPLE);
                var requestHeaders = o.defaulted(
                        "requestHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.<String>of(),
                        log -> log.lines().requestHeaders(),
                        "Request headers to add to JSON lines.");
                var responseHeaders = o.defaulted(
                        "responseHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.<String>of(),
                        log -> log.lines().responseHeaders(),
                        "Response headers to add to JSON lines.");
                var fields = o.optional(
                        "fields",
                        LogFieldsSchema.FIELDS,
                        log -> log.lines().fields(),
                        "Fields of JSON lines: some left out, some with other names, some of your own.");
                var redact = o.section(
                        "redact", REDACT, AccessLogConfig::redact, "What the gateway replaces with asterisks.");
                o.single(text -> Types.isOff(text)
                        ? "{format: off}"
                        : text.matches(STDOUT + "|[A-Za-z0-9._/-]*/[A-Za-z0-9._-]+") ? "{path: " + text + "}" : null);
                o.foreign("enabled", "write format: off for no log");
                o.foreign("rotate logrotate", "rotation");
                o.foreign("jsonFormat", "write format: json, and fields"); // Envoy
                o.foreign("output file filePath", "path");
                return v -> {
                    Fields own = v.find(fields);
                    if (own != null && v.isSound()) {
                        LogFieldsSchema.checkNames(v, own, objects(v.get(requestHeaders), v.get(responseHeaders)));
                    }
                    check(v);
                    AccessLogTemplate written = v.find(template);
                    Syslog receiver = v.find(syslog);
                    return new AccessLogConfig(
                            v.position(),
                            new AccessLogConfig.Lines(
                                    written != null ? Format.TEMPLATE : v.get(format),
                                    written,
                                    v.get(requestHeaders),
                                    v.get(responseHeaders),
                                    own),
                            new AccessLogConfig.Target(
                                    receiver != null ? null : file(v.get(path), v), v.find(rotation), receiver),
                            new Choice(v.get(exchanges), v.get(sample)),
                            v.get(redact));
                };
            });

    private AccessLogSchema() {}

    private static @Nullable String path(AccessLogConfig.Target target) {
        if (target.syslog() != null) {
            return null;
        }
        return target.file() == null ? STDOUT : String.valueOf(target.file());
    }

    private static @Nullable Path file(String path, Values v) {
        return path.isEmpty() || path.equals(STDOUT)
                ? null
                : v.directory().resolve(path).toAbsolutePath().normalize();
    }

    /** Returns the names of the objects of headers that JSON lines have. */
    private static List<String> objects(List<String> requestHeaders, List<String> responseHeaders) {
        List<String> objects = new ArrayList<>();
        if (!requestHeaders.isEmpty()) {
            objects.add("requestHeaders");
        }
        if (!responseHeaders.isEmpty()) {
            objects.add("responseHeaders");
        }
        return objects;
    }

    private static void check(Values v) {
        if (v.has("template") && v.has("format")) {
            v.error(v.atKey("format"), "'template' replaces 'format': remove one of them");
        }
        if (v.has("syslog") && v.has("path")) {
            v.error(v.atKey("path"), "'syslog' replaces 'path': remove one of them");
        }
        boolean file = v.has("path") && !v.resolved("path").equals(STDOUT);
        boolean opened = file && !v.has("syslog") && !(v.has("format") && Types.isOff(v.resolved("format")));
        Path log = opened ? file(v.resolved("path"), v) : null;
        if (log != null && log.getParent() != null && !Files.isDirectory(log.getParent())) {
            // It may be there where the gateway runs.
            v.warning(
                    v.atKey("path"),
                    "path: there is no directory " + log.getParent() + ": without it the gateway does not start");
        }
        if (v.has("rotation") && !file) {
            v.warning(v.atKey("rotation"), "rotation has no effect without a file in 'path'");
        }
        checkJson(v);
    }

    /** Warns of keys that only JSON lines obey. */
    private static void checkJson(Values v) {
        String format = v.has("template") ? "template" : v.has("format") ? v.resolved("format") : "json";
        if (format.equals("json")) {
            return;
        }
        for (String key : List.of("requestHeaders", "responseHeaders", "fields")) {
            if (v.has(key)) {
                String instead = format.equals("off")
                        ? " has no effect with format: off, which writes no lines: remove it"
                        : key.equals("fields")
                                ? " has no effect on lines that are not JSON: write them into the template"
                                : " has no effect on lines that are not JSON: a template names headers as"
                                        + " {requestHeader:NAME} and {responseHeader:NAME}";
                v.warning(v.atKey(key), key + instead);
            }
        }
    }

    private static Map<String, Integer> facilities() {
        Map<String, Integer> codes = new LinkedHashMap<>();
        for (String facility : FACILITIES) {
            codes.put(facility, codes.size());
        }
        return codes;
    }
}
