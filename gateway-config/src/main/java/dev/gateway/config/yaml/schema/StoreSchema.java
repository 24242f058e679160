package dev.gateway.config.yaml.schema;

import static java.util.Map.entry;

import dev.gateway.config.StoreConfig;
import dev.gateway.config.StoreConfig.OnError;
import dev.gateway.config.StoreConfig.Redis;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Secrets;
import dev.gateway.config.yaml.type.Types;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a store of counts is, key by key. */
final class StoreSchema {
    private static final int USUAL_PORT = 6379;
    private static final Duration LONGEST = Duration.ofSeconds(10);
    private static final Pattern URL = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#@:]*)(?::([^/?#@]*))?@)?"
            + "(\\[[^\\]/]*\\]|[^/?#:@\\[\\]]+)(?::([0-9]{1,5}))?(?:/([0-9]{0,4}))?");

    /** Its messages show nothing that may be a password. */
    private static final ScalarType<Redis> REDIS = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^rediss?://[^?#]+$"),
                    new Redis(false, "localhost", USUAL_PORT, 0, null, null),
                    StoreSchema::redis,
                    StoreSchema::print,
                    true)
            .named(
                    "Redis URL",
                    "redis://host:port/database, or rediss:// for TLS. Before the host there may be user:password@, in "
                            + "which percent signs escape bytes. The port is 6379 and the database 0 if they are not "
                            + "written.");

    private static final ScalarType<String> PREFIX =
            Types.word("[!-z|~]{1,64}", "up to 64 letters, digits and signs, without spaces and braces");

    /** A store. */
    static final ObjectType<StoreConfig> STORE =
            ObjectType.of("store", "A Redis server by which the limits of several gateways count together.", o -> {
                var name = o.required("name", Types.NAME, StoreConfig::name, "Name of the store, unique.");
                var redis = o.required(
                        "redis",
                        REDIS,
                        StoreConfig::redis,
                        "URL of the server, Redis 5 or newer, without Redis Cluster.");
                var passwordFile = o.optional(
                        "passwordFile",
                        Types.PATH,
                        StoreConfig::passwordFile,
                        "File of one line in UTF-8, the password, instead of one in the URL. The gateway reads it "
                                + "again when it changes. New connections use what it has then.");
                var caFile = o.optional(
                        "caFile",
                        Types.PATH,
                        StoreConfig::caFile,
                        "PEM file of the authorities that may vouch for the server, instead of those of the "
                                + "platform. The gateway reads it again at each reload.");
                var prefix = o.defaulted(
                        "keyPrefix",
                        PREFIX,
                        "gateway:",
                        StoreConfig::keyPrefix,
                        "What all keys in Redis begin with. Gateways with the same prefix, rule and limit count "
                                + "together.");
                var timeout = o.defaulted(
                        "timeout",
                        Types.DURATION,
                        Duration.ofMillis(50),
                        StoreConfig::timeout,
                        "How long a request waits for an answer of the store, at most 10s. After an answer that is "
                                + "late, the gateway does not ask for about a second, and longer if it fails again "
                                + "soon.");
                var onError = o.defaulted(
                        "onError",
                        Types.words(
                                entry("local", OnError.LOCAL),
                                entry("allow", OnError.ALLOW),
                                entry("deny", OnError.DENY)),
                        OnError.LOCAL,
                        StoreConfig::onError,
                        "What happens while the store does not answer: local counts in this gateway alone, allow lets "
                                + "all requests pass, deny answers 429.");
                o.foreign("address addresses host url uri endpoint endpoints server", "redis");
                o.foreign("type", "every store is Redis: remove it");
                o.foreign("password username user", "passwordFile");
                o.foreign("db database", "write it into the URL, as in redis://host:6379/1");
                o.foreign("tls", "write rediss:// in the URL");
                return v -> {
                    Redis server = v.get(redis);
                    if (v.find(caFile) != null && !server.tls() && v.has("redis")) {
                        v.error(
                                v.atKey("caFile"),
                                "caFile has no meaning with redis://: remove it, or write rediss://");
                    }
                    if (v.find(passwordFile) != null && server.password() != null) {
                        v.error(v.atKey("passwordFile"), "there is a password in the URL, too: remove one of them");
                    }
                    if (v.find(passwordFile) == null && server.user() != null && server.password() == null) {
                        v.error(v.at("redis"), "redis: a user needs a password: add 'passwordFile'");
                    }
                    if (v.get(timeout).isZero() || v.get(timeout).compareTo(LONGEST) > 0) {
                        v.error(v.at("timeout"), "timeout: expected a time from 1ms to 10s");
                    }
                    return new StoreConfig(
                            v.position(),
                            v.get(name),
                            server,
                            v.find(passwordFile),
                            v.find(caFile),
                            v.get(prefix),
                            v.get(timeout),
                            v.get(onError));
                };
            });

    private StoreSchema() {}

    private static Redis redis(String text, ScalarType.Site site) throws InvalidException {
        Matcher url = URL.matcher(text);
        if (!url.matches()) {
            throw new InvalidException("expected the URL of a Redis server such as redis://redis.example:6379/0"
                    + (text.indexOf('@') < 0
                            ? ", not " + MessageText.quote(text) + otherwise(text)
                            : "; in user and password, write other signs than letters and digits as %40 and so on"));
        }
        String scheme = url.group(1).toLowerCase(Locale.ROOT);
        if (!scheme.equals("redis") && !scheme.equals("rediss")) {
            throw new InvalidException("unknown scheme '" + scheme + "': expected redis, or rediss for TLS");
        }
        String host = url.group(4);
        int port = url.group(5) == null ? USUAL_PORT : Integer.parseInt(url.group(5));
        if (port < 1 || port > 65535) {
            throw new InvalidException("expected a port from 1 to 65535, not '" + port + "'");
        }
        String database = url.group(6);
        return new Redis(
                scheme.equals("rediss"),
                Types.HOST.parse(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, site),
                port,
                database == null || database.isEmpty() ? 0 : Integer.parseInt(database),
                decoded(url.group(2)),
                decoded(url.group(3)));
    }

    private static String otherwise(String text) {
        return text.matches("[A-Za-z0-9.-]+:[0-9]+")
                ? ": did you mean 'redis://" + text + "'?"
                : text.matches("rediss?://.*/[^0-9].*") ? ": a database is a number" : "";
    }

    private static @Nullable String decoded(@Nullable String part) throws InvalidException {
        if (part == null || part.isEmpty()) {
            return null;
        }
        try {
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new InvalidException("user or password has a percent sign that escapes nothing: write it as %25");
        }
    }

    private static String print(Redis redis) {
        String user = redis.user() == null ? null : URLEncoder.encode(redis.user(), StandardCharsets.UTF_8);
        return new Redis(redis.tls(), redis.host(), redis.port(), redis.database(), user, redis.password())
                .masked(Secrets.MASK);
    }
}
