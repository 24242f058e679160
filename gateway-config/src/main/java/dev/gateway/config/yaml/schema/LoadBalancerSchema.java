package dev.gateway.config.yaml.schema;

import static java.util.Map.entry;

import dev.gateway.config.Concealed;
import dev.gateway.config.LoadBalancerConfig;
import dev.gateway.config.LoadBalancerConfig.HashKey;
import dev.gateway.config.LoadBalancerConfig.Policy;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.config.yaml.type.WordOrObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How an endpoint is chosen, key by key. */
final class LoadBalancerSchema {
    private static final ScalarType<Integer> FACTOR = Types.percentage(0, 10_000)
            .named("balance factor", "A whole number from 0 to 10000 with a percent sign, such as 150%.");

    private static final List<String> SOURCES = List.of("header", "cookie", "queryParameter", "path", "client");

    private static final int BALANCE_FACTOR = 150;

    /** What requests are balanced by if nothing is written. */
    static final LoadBalancerConfig DEFAULT = plain(Policy.LEAST_REQUEST);

    private static final Map<String, Policy> POLICIES = policies();

    /** What others call them. */
    private static final Map<String, String> FOREIGN = Map.ofEntries(
            entry("ringhash", "Hash"),
            entry("maglev", "Hash"),
            entry("consistenthash", "Hash"),
            entry("iphash", "Hash"),
            entry("sourceip", "Hash"),
            entry("leastconn", "LeastRequest"),
            entry("leastconnection", "LeastRequest"),
            entry("leastconnections", "LeastRequest"),
            entry("leastrequests", "LeastRequest"),
            entry("weightedleastrequest", "LeastRequest"),
            entry("p2c", "LeastRequest"),
            entry("ewma", "PeakEwma"),
            entry("leasttime", "PeakEwma"),
            entry("wrr", "RoundRobin"),
            entry("weightedroundrobin", "RoundRobin"));

    private static final ScalarType<Policy> POLICY = Types.words(POLICIES, Map.of(), FOREIGN);

    private static final ObjectType<HashKey> HASH_KEY =
            ObjectType.of("hash key", "A part of requests. Requests without it are hashed by the other keys.", o -> {
                var header = o.optional(
                        "header",
                        Types.HEADER_NAME,
                        HashKey::header,
                        "A request header: all its values in their order.");
                var cookie = o.optional("cookie", RequestParts.COOKIE, HashKey::cookie, "A cookie.");
                var query = o.optional(
                        "queryParameter",
                        RequestParts.QUERY_PARAMETER,
                        HashKey::queryParameter,
                        "A query parameter, as the URL writes it.");
                var path = o.optional(
                        "path",
                        RequestParts.YES,
                        key -> key.path() ? true : null,
                        "true: the path, without its query.");
                var client = o.optional(
                        "client",
                        RequestParts.YES,
                        key -> key.client() ? true : null,
                        "true: the client's address, without its port.");
                var terminal = o.defaulted(
                        "terminal",
                        Types.BOOLEAN,
                        false,
                        HashKey::terminal,
                        "Whether later keys do not count for requests that have this one.");
                RequestParts.requireOne(o, SOURCES, "a hash key", "terminal");
                return v -> new HashKey(
                        v.position(),
                        v.find(header),
                        v.find(cookie),
                        v.find(query),
                        v.find(path) != null,
                        v.find(client) != null,
                        v.get(terminal));
            });

    private static final ObjectType<LoadBalancerConfig> OBJECT =
            ObjectType.of("loadBalancer section", "How the gateway selects an endpoint.", o -> {
                var policy = o.required("policy", POLICY, LoadBalancerConfig::policy, "The balancing policy.");
                var hash = o.optional(
                        "hash",
                        new ListType<>(HASH_KEY, 1),
                        balancer -> balancer.hash().isEmpty() ? null : balancer.hash(),
                        "Requests in which these parts are the same go to the same endpoint. Only for Hash, which needs "
                                + "it.");
                var factor = o.defaulted(
                        "hashBalanceFactor",
                        FACTOR,
                        BALANCE_FACTOR,
                        LoadBalancerConfig::hashBalanceFactor,
                        "With Hash, the most requests in flight of an endpoint, compared with its share. Beyond it, the "
                                + "gateway takes other endpoints. Below 16 requests it always takes the same. 0% means no "
                                + "limit.");
                o.constraint(
                        LoadBalancerSchema::hashProblem,
                        Map.of(
                                "if",
                                Map.of("properties", Map.of("policy", Map.of("const", "Hash"))),
                                "then",
                                ObjectType.requires("hash"),
                                "else",
                                Map.of("not", ObjectType.requires("hash"))));
                o.foreign("sticky stickySession", "write sessionPersistence into the upstream");
                return v -> {
                    List<HashKey> keys = v.find(hash);
                    if (v.get(factor) > 0 && v.get(factor) < 100) {
                        v.error(
                                v.at("hashBalanceFactor"),
                                "hashBalanceFactor: expected 0%, or 100% or more: endpoints cannot all have less "
                                        + "than their share");
                    }
                    return new LoadBalancerConfig(v.get(policy), keys == null ? List.of() : keys, v.get(factor));
                };
            });

    /** A word, or a mapping. */
    static final Type<LoadBalancerConfig> LOAD_BALANCER =
            new WordOrObject<>(word(), OBJECT, balancer -> balancer.equals(plain(balancer.policy())));

    private LoadBalancerSchema() {}

    private static Map<String, Policy> policies() {
        Map<String, Policy> policies = new LinkedHashMap<>();
        for (Policy policy : Policy.values()) {
            policies.put(policy.word(), policy);
        }
        return policies;
    }

    private static LoadBalancerConfig plain(Policy policy) {
        return new LoadBalancerConfig(policy, List.of(), BALANCE_FACTOR);
    }

    private static ScalarType<LoadBalancerConfig> word() {
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                Map.of(
                        "enum",
                        POLICIES.keySet().stream()
                                .filter(word -> !word.equals("Hash"))
                                .toList()),
                DEFAULT,
                (text, site) -> {
                    Policy policy = POLICY.parse(text, site);
                    if (policy == Policy.HASH) {
                        throw new InvalidException(
                                "Hash needs to know what to hash: write {policy: Hash, hash: [{client: true}]}");
                    }
                    return plain(policy);
                },
                balancer -> POLICY.print(balancer.policy(), Concealed.NOTHING));
    }

    private static ObjectType.@Nullable Finding hashProblem(Values values) {
        String policy = values.resolved("policy");
        if (policy.equals("Hash") == values.has("hash") || !POLICIES.containsKey(policy)) {
            return null;
        }
        return policy.equals("Hash")
                ? new ObjectType.Finding("policy", "policy Hash needs 'hash': add hash: [{client: true}]")
                : new ObjectType.Finding("hash", "'hash' is only for policy Hash: write policy: Hash, or remove it");
    }
}
