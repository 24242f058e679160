package dev.gateway.filter.ratelimit;

import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.ShownCredentials;
import dev.gateway.config.yaml.schema.filter.RequestParts;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.filter.ratelimit.RateLimitConfig.KeyPart;
import dev.gateway.filter.ratelimit.RateLimitConfig.Limit;
import dev.gateway.filter.ratelimit.RateLimitConfig.Rate;
import dev.gateway.filter.ratelimit.RateLimitConfig.Unit;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Filter that limits requests, key by key. */
final class RateLimitSchema {
    private static final int MOST_REQUESTS = 1_000_000;
    private static final int MOST_IN_FLIGHT = 65_535;
    private static final int MOST_DAYS = 31;
    private static final long MOST_BYTES = 1L << 50;
    private static final long MOST_BYTES_IN_SECOND = 1L << 34;

    private static final ObjectType<KeyPart> KEY_PART = ObjectType.of(
            "limit key", "A part of requests. Requests that lack it count together, as one more value of it.", o -> {
                var client = o.optional(
                        "client",
                        RequestParts.YES,
                        part -> part.client() ? true : null,
                        "true: the client's address. IPv6 addresses with the same first 64 bits count as one client.");
                var identity = o.optional(
                        "identity",
                        RequestParts.YES,
                        part -> part.identity() ? true : null,
                        "true: the identity that a filter of the rule has authenticated.");
                var header = o.optional(
                        "header",
                        Types.HEADER_NAME,
                        KeyPart::header,
                        "A request header: all its values in their order.");
                var cookie = o.optional("cookie", RequestParts.COOKIE, KeyPart::cookie, "A cookie.");
                var query = o.optional(
                        "queryParameter",
                        RequestParts.QUERY_PARAMETER,
                        KeyPart::queryParameter,
                        "A query parameter, as the URL writes it.");
                var claim = o.optional(
                        "claim",
                        Types.LINE,
                        KeyPart::claim,
                        "A claim of the token that the rule's JWT filter has verified: a text, a number, a boolean or a"
                                + " list of them. A dot leads into an object, as in realm_access.roles.");
                RequestParts.requireOne(
                        o,
                        List.of("client", "identity", "header", "cookie", "queryParameter", "claim"),
                        "a limit key",
                        "client");
                return v -> new KeyPart(
                        v.position(),
                        v.find(client) != null,
                        v.find(identity) != null,
                        v.find(header),
                        v.find(cookie),
                        v.find(query),
                        v.find(claim));
            });

    private static final ObjectType<Limit> LIMIT =
            ObjectType.of("limit", "A limit: requests or bytes in an interval, or maxInFlight.", o -> {
                var name = o.defaulted(
                        "name",
                        Types.NAME,
                        "default",
                        Limit::name,
                        "Name of the limit, unique in the filter. Logs, metrics and the RateLimit header have it. A "
                                + "reload keeps what a limit of this name has counted.");
                var requests = o.optional(
                        "requests",
                        Types.integer(1, MOST_REQUESTS).explained(RateLimitSchema::perInterval),
                        limit -> {
                            Rate rate = rate(limit, Unit.REQUESTS);
                            return rate == null ? null : (int) rate.quota();
                        },
                        "How many requests may come in an interval, on average.");
                var bytes = o.optional(
                        "bytes",
                        Types.SIZE,
                        limit -> {
                            Rate rate = rate(limit, Unit.BYTES);
                            return rate == null ? null : rate.quota();
                        },
                        "How many bytes of bodies and WebSockets may pass in an interval, on average, in both directions. The "
                                + "gateway counts a request's bytes when it ends.");
                var interval = o.optional(
                        "interval",
                        Types.DURATION,
                        limit -> limit.rate() == null ? null : limit.rate().interval(),
                        "The interval for requests or bytes, such as 1s, 1m or 24h.");
                var burst = o.optional(
                        "burst",
                        Types.integer(1, MOST_REQUESTS),
                        limit -> {
                            Rate rate = rate(limit, Unit.REQUESTS);
                            return rate == null ? null : (int) rate.burst();
                        },
                        "How many requests may come at once, after a quiet time. The default is requests.");
                var inFlight = o.optional(
                        "maxInFlight",
                        Types.integer(1, MOST_IN_FLIGHT),
                        limit -> limit.maxInFlight() == 0 ? null : limit.maxInFlight(),
                        "How many requests may be in flight at a time. A WebSocket is in flight until it ends.");
                var key = o.defaulted(
                        "key",
                        new ListType<>(KEY_PART, 0),
                        List.of(),
                        Limit::key,
                        "Requests in which these parts are the same count together. Without this key all requests of "
                                + "the rule do.");
                var store = o.optional(
                        "store",
                        Types.NAME,
                        Limit::store,
                        "The store by which this limit counts together with other gateways. Without this key each "
                                + "gateway counts alone.");
                o.exactlyOneOf("requests", "bytes", "maxInFlight");
                for (String counted : List.of("requests", "bytes")) {
                    o.constraint(
                            values -> values.has(counted) && !values.has("interval")
                                    ? new ObjectType.Finding(
                                            counted, "'" + counted + "' and 'interval' belong together: add 'interval'")
                                    : null,
                            Map.of("dependentRequired", Map.of(counted, List.of("interval"))));
                }
                o.constraint(
                        values -> values.has("interval") && !values.has("requests") && !values.has("bytes")
                                ? new ObjectType.Finding(
                                        "interval", "'interval' needs requests or bytes: add one of them, or remove it")
                                : null,
                        Map.of(
                                "dependentSchemas",
                                Map.of(
                                        "interval",
                                        Map.of(
                                                "anyOf",
                                                List.of(
                                                        ObjectType.requires("requests"),
                                                        ObjectType.requires("bytes"))))));
                o.constraint(
                        values -> values.has("burst") && !values.has("requests")
                                ? new ObjectType.Finding("burst", "'burst' is only for requests: remove it")
                                : null,
                        Map.of("dependentRequired", Map.of("burst", List.of("requests"))));
                o.constraint(
                        values -> values.has("store") && (values.has("maxInFlight") || values.has("bytes"))
                                ? new ObjectType.Finding(
                                        "store",
                                        "'store' is only for requests, as each gateway counts its own bytes and requests in "
                                                + "flight: remove it")
                                : null,
                        Map.of("dependentRequired", Map.of("store", List.of("requests"))));
                o.foreign("rate limit", "requests");
                return v -> {
                    Integer most = v.find(inFlight);
                    return new Limit(
                            v.position(),
                            v.get(name),
                            rate(v, v.find(requests), v.find(bytes), v.find(interval), v.find(burst)),
                            most == null ? 0 : most,
                            v.get(key),
                            v.find(store));
                };
            });

    /** Settings. */
    static final ObjectType<RateLimitConfig> RATE_LIMIT = ObjectType.of(
            "rateLimit section", "Limits requests: a request over a limit gets 429 with the cause rate_limited.", o -> {
                Key<RateLimitConfig, List<Limit>> limits = o.required(
                        "limits",
                        new ListType<>(LIMIT, 1),
                        RateLimitConfig::limits,
                        "Limits. A request that one of them refuses does not count for the others.");
                var headers = o.defaulted(
                        "includeHeaders",
                        Types.BOOLEAN,
                        true,
                        RateLimitConfig::includeHeaders,
                        "Whether responses have the headers RateLimit and RateLimit-Policy, which tell clients how many "
                                + "requests they have left.");
                o.foreign("average period rate", "write limits: [{requests: …, interval: …}]"); // Traefik, nginx
                return v -> {
                    Map<String, Limit> byName = new HashMap<>();
                    for (Limit limit : v.get(limits)) {
                        Limit first = byName.putIfAbsent(limit.name(), limit);
                        if (first != null) {
                            v.error(
                                    limit.position(),
                                    "duplicate limit '" + limit.name() + "': first defined in line "
                                            + first.position().line() + "; give each limit a name");
                        }
                    }
                    return new RateLimitConfig(v.position(), v.get(limits), v.get(headers));
                };
            });

    private RateLimitSchema() {}

    /** Returns the keys for a rate that was written as one text, such as nginx's 10r/s; empty for another text. */
    private static String perInterval(String text) {
        Matcher rate = Pattern.compile("([0-9]+)r?/(s|m|h)[a-z]*").matcher(text);
        return rate.matches() ? ": write requests: " + rate.group(1) + ", interval: 1" + rate.group(2) : "";
    }

    private static @Nullable Rate rate(Limit limit, Unit unit) {
        Rate rate = limit.rate();
        return rate == null || rate.unit() != unit ? null : rate;
    }

    private static @Nullable Rate rate(
            Values v,
            @Nullable Integer requests,
            @Nullable Long bytes,
            @Nullable Duration interval,
            @Nullable Integer burst) {
        if ((requests == null && bytes == null) || interval == null) {
            return null;
        }
        if (interval.isZero()) {
            v.error(v.at("interval"), "interval: expected a time longer than 0s");
            return null;
        }
        if (interval.compareTo(Duration.ofDays(MOST_DAYS)) > 0) {
            v.error(v.at("interval"), "interval: expected at most " + 24 * MOST_DAYS + "h");
        }
        if (requests == null) {
            return bytesRate(v, Objects.requireNonNull(bytes), interval);
        }
        if (1000.0 * requests / interval.toMillis() > MOST_REQUESTS) {
            v.error(v.at("requests"), "requests: expected at most " + MOST_REQUESTS + " in a second");
        }
        return new Rate(Unit.REQUESTS, requests, interval, burst == null ? requests : burst);
    }

    private static @Nullable Rate bytesRate(Values v, long bytes, Duration interval) {
        if (bytes == 0 || bytes > MOST_BYTES) {
            v.error(v.at("bytes"), "bytes: expected from 1B to " + (MOST_BYTES >> 40) + "TiB");
            return null;
        }
        if (1000.0 * bytes / interval.toMillis() > MOST_BYTES_IN_SECOND) {
            v.error(v.at("bytes"), "bytes: expected at most " + (MOST_BYTES_IN_SECOND >> 30) + "GiB in a second");
        }
        return new Rate(Unit.BYTES, bytes, interval, bytes);
    }

    /** What it counts by must be in requests, and be what clients cannot make up. */
    static void check(RateLimitConfig filter, RuleSite site) {
        boolean identified = site.rule().filters().stream().anyMatch(FilterConfig::identifies);
        filter.limits().stream().flatMap(limit -> limit.key().stream()).forEach(part -> {
            if (part.identity() && !identified) {
                site.warning(
                        part.position(), "no filter of the rule tells who the client is: all requests count together");
            }
            removed(part, site);
            claimed(part, site);
        });
    }

    /** A part of a key that an earlier filter takes out of the request is missing in every request. */
    private static void removed(RateLimitConfig.KeyPart part, RuleSite site) {
        for (FilterConfig other : site.rule().filters()) {
            ShownCredentials shown = other.credentials();
            if (shown != null && shown.removed() && isAt(shown, part)) {
                site.error(
                        part.position(),
                        other.type() + " removes the " + part.summary() + " before: write 'identity: true'");
            }
        }
    }

    private static boolean isAt(ShownCredentials shown, RateLimitConfig.KeyPart part) {
        return shown.isAt(CredentialPlace.HEADER, part.header())
                || shown.isAt(CredentialPlace.QUERY_PARAMETER, part.queryParameter())
                || shown.isAt(CredentialPlace.COOKIE, part.cookie());
    }

    /** A claim that no filter of the rule verifies could only be what a client says. */
    private static void claimed(RateLimitConfig.KeyPart part, RuleSite site) {
        if (part.claim() != null && site.rule().filters().stream().noneMatch(FilterConfig::verifiesClaims)) {
            site.error(
                    site.scope().at(part, "claim"),
                    "no request has claims without a token: add the filter JWT to this rule, or write another key");
        }
    }
}
