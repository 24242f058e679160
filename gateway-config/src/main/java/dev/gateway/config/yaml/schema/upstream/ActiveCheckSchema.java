package dev.gateway.config.yaml.schema.upstream;

import static java.util.Map.entry;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.config.upstream.UpstreamConfig.CheckRequest;
import dev.gateway.config.upstream.UpstreamConfig.GrpcCheck;
import dev.gateway.config.upstream.UpstreamConfig.HttpCheck;
import dev.gateway.config.upstream.UpstreamConfig.TcpCheck;
import dev.gateway.config.value.StatusRange;
import dev.gateway.config.yaml.schema.listener.StatusRanges;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How the gateway asks endpoints of an upstream whether they are well, key by key. */
final class ActiveCheckSchema {
    /** Check types. */
    private enum CheckType {
        HTTP,
        GRPC,
        TCP
    }

    private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
    private static final List<StatusRange> GOOD = List.of(new StatusRange(200, 399));

    private static final ScalarType<CheckType> TYPE =
            Types.words(entry("HTTP", CheckType.HTTP), entry("GRPC", CheckType.GRPC), entry("TCP", CheckType.TCP));

    /** The section of {@code healthChecks}. */
    static final ObjectType<ActiveCheck> ACTIVE =
            ObjectType.of("active section", "The gateway asks each endpoint at an interval.", o -> {
                var type = o.defaulted(
                        "type",
                        TYPE,
                        CheckType.HTTP,
                        ActiveCheckSchema::typeOf,
                        "HTTP sends a GET request. GRPC calls grpc.health.v1.Health/Check over HTTP/2. TCP makes a "
                                + "connection, with TLS if the upstream has tls, and closes it.");
                var path = o.optional(
                        "path",
                        Types.text("/[!-~]*", "a path that begins with '/', without spaces or non-ASCII characters"),
                        check -> check.request() instanceof HttpCheck http ? http.path() : null,
                        "Path of the request. Type HTTP needs it.");
                var host = o.optional(
                        "host",
                        Types.EXACT_HOSTNAME,
                        check -> check.request() instanceof HttpCheck http ? http.host() : null,
                        "Host header of the request, instead of the endpoint's host. Only for type HTTP.");
                var expected = o.optional(
                        "expectedStatuses",
                        new ListType<>(StatusRanges.ANY, 1),
                        check -> check.request() instanceof HttpCheck http ? http.expectedStatuses() : null,
                        "Statuses of a success. The default is 200-399. Only for type HTTP.");
                var service = o.optional(
                        "service",
                        Types.text("[!-~]{1,255}", "the name of a gRPC service such as shop.Orders"),
                        check -> check.request() instanceof GrpcCheck grpc
                                        && !grpc.service().isEmpty()
                                ? grpc.service()
                                : null,
                        "gRPC service to ask about, instead of the whole server. Only for type GRPC.");
                var interval = o.defaulted(
                        "interval",
                        Types.DURATION,
                        Duration.ofSeconds(5),
                        ActiveCheck::interval,
                        "Time between an answer and the next check, at least 100ms. The gateway varies it at "
                                + "random.");
                var unhealthyInterval = o.optional(
                        "unhealthyInterval",
                        Types.DURATION,
                        ActiveCheck::unhealthyInterval,
                        "The same while the endpoint is unhealthy, at least 100ms. The default is interval.");
                var timeout = o.defaulted(
                        "timeout",
                        Types.DURATION,
                        Duration.ofSeconds(2),
                        ActiveCheck::timeout,
                        "Time for the whole check, connecting included.");
                var healthy = o.defaulted(
                        "healthyThreshold",
                        Types.integer(1, 1000),
                        2,
                        ActiveCheck::healthyThreshold,
                        "Number of successes in a row that make an endpoint healthy again.");
                var unhealthy = o.defaulted(
                        "unhealthyThreshold",
                        Types.integer(1, 1000),
                        3,
                        ActiveCheck::unhealthyThreshold,
                        "Number of failures in a row that make an endpoint unhealthy. A failure of the very "
                                + "first check is enough.");
                o.constraint(ActiveCheckSchema::misplaced, misplacedSchema());
                o.single("path");
                o.single(text -> text.equals("true") ? "{path: …}" : null);
                o.foreign("rise", "healthyThreshold"); // HAProxy
                o.foreign("fall", "unhealthyThreshold"); // HAProxy
                o.foreign("port", "checks go to the port of the endpoint: remove it");
                o.foreign("uri url", "path");
                return v -> {
                    for (String each : List.of("interval", "unhealthyInterval")) {
                        Duration time = each.equals("interval") ? v.get(interval) : v.find(unhealthyInterval);
                        if (time != null && time.compareTo(MIN_INTERVAL) < 0) {
                            v.error(v.at(each), each + ": expected 100ms or more");
                        }
                    }
                    if (v.get(timeout).isZero()) {
                        v.error(v.at("timeout"), "timeout: expected more than 0s");
                    }
                    CheckRequest request =
                            switch (v.get(type)) {
                                case HTTP -> {
                                    List<StatusRange> statuses = v.find(expected);
                                    String asked = v.find(path);
                                    yield new HttpCheck(
                                            asked == null ? "/" : asked,
                                            v.find(host),
                                            statuses == null ? GOOD : statuses);
                                }
                                case GRPC -> {
                                    String of = v.find(service);
                                    yield new GrpcCheck(of == null ? "" : of);
                                }
                                case TCP -> new TcpCheck();
                            };
                    return new ActiveCheck(
                            v.position(),
                            request,
                            v.get(interval),
                            v.find(unhealthyInterval),
                            v.get(timeout),
                            v.get(healthy),
                            v.get(unhealthy));
                };
            });

    private ActiveCheckSchema() {}

    private static CheckType typeOf(ActiveCheck check) {
        if (check.request() instanceof HttpCheck) {
            return CheckType.HTTP;
        }
        return check.request() instanceof GrpcCheck ? CheckType.GRPC : CheckType.TCP;
    }

    /** HTTP needs a path; keys of one type are refused with another. */
    private static ObjectType.@Nullable Finding misplaced(Values values) {
        String type = values.has("type") ? values.resolved("type") : "HTTP";
        if (type.equals("HTTP") && !values.has("path")) {
            return new ObjectType.Finding(
                    "type", "an active section of type HTTP needs 'path': add it, or write type: GRPC or type: TCP");
        }
        for (String key : List.of("path", "host", "expectedStatuses", "service")) {
            String owner = key.equals("service") ? "GRPC" : "HTTP";
            if (values.has(key)
                    && !owner.equals(type)
                    && List.of("HTTP", "GRPC", "TCP").contains(type)) {
                return new ObjectType.Finding(
                        key, "'" + key + "' does not belong to type " + type + ": remove it, or write type: " + owner);
            }
        }
        return null;
    }

    private static Map<String, Object> misplacedSchema() {
        return Map.of(
                "allOf",
                List.of(
                        Map.of(
                                "if",
                                ofType("GRPC", "TCP"),
                                "then",
                                without("path", "host", "expectedStatuses"),
                                "else",
                                ObjectType.requires("path")),
                        Map.of("if", Map.of("not", ofType("GRPC")), "then", without("service"))));
    }

    private static Map<String, Object> ofType(String... types) {
        return Map.of("properties", Map.of("type", Map.of("enum", List.of(types))), "required", List.of("type"));
    }

    private static Map<String, Object> without(String... keys) {
        return Map.of(
                "not",
                Map.of("anyOf", List.of(keys).stream().map(ObjectType::requires).toList()));
    }
}
