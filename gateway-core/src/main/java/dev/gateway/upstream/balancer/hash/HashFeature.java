package dev.gateway.upstream.balancer.hash;

import dev.gateway.config.upstream.LoadBalancerConfig;
import dev.gateway.config.yaml.schema.filter.RequestParts;
import dev.gateway.config.yaml.schema.upstream.BalancerType;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.balancer.BalancerFeature;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The policy {@code Hash}. */
public final class HashFeature implements BalancerFeature {
    private static final int BALANCE_FACTOR = 150;

    private static final ScalarType<Integer> FACTOR = Types.percentage(0, 10_000)
            .named("balance factor", "A whole number from 0 to 10000 with a percent sign, such as 150%.");

    private static final List<String> SOURCES = List.of("header", "cookie", "queryParameter", "path", "client");

    private static final ObjectType<HashConfig.Key> HASH_KEY =
            ObjectType.of("hash key", "A part of requests. Requests without it are hashed by the other keys.", o -> {
                var header = o.optional(
                        "header",
                        Types.HEADER_NAME,
                        HashConfig.Key::header,
                        "A request header: all its values in their order.");
                var cookie = o.optional("cookie", RequestParts.COOKIE, HashConfig.Key::cookie, "A cookie.");
                var query = o.optional(
                        "queryParameter",
                        RequestParts.QUERY_PARAMETER,
                        HashConfig.Key::queryParameter,
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
                        HashConfig.Key::terminal,
                        "Whether later keys do not count for requests that have this one.");
                RequestParts.requireOne(o, SOURCES, "a hash key", "terminal");
                return v -> new HashConfig.Key(
                        v.position(),
                        v.find(header),
                        v.find(cookie),
                        v.find(query),
                        v.find(path) != null,
                        v.find(client) != null,
                        v.get(terminal));
            });

    private static final BalancerType TYPE = new BalancerType(
            "Hash",
            List.of("ringhash", "maglev", "consistenthash", "iphash", "sourceip"),
            new BalancerType.Settings<>(
                    new HashConfig(List.of(), BALANCE_FACTOR),
                    "hash",
                    "[{client: true}]",
                    "what to hash",
                    HashFeature::declare));

    private static Function<Values, HashConfig> declare(ObjectType.Declaration<LoadBalancerConfig> o) {
        var hash = o.optional(
                "hash",
                new ListType<>(HASH_KEY, 1),
                balancer -> settings(balancer).keys().isEmpty()
                        ? null
                        : settings(balancer).keys(),
                "Requests in which these parts are the same go to the same endpoint. Only for Hash, which needs it.");
        var factor = o.defaulted(
                "hashBalanceFactor",
                FACTOR,
                BALANCE_FACTOR,
                balancer -> settings(balancer).balanceFactor(),
                "With Hash, the most requests in flight of an endpoint, compared with its share. Beyond it, the "
                        + "gateway takes other endpoints. Below 16 requests it always takes the same. 0% means no "
                        + "limit.");
        return v -> {
            List<HashConfig.Key> keys = v.find(hash);
            if (v.get(factor) > 0 && v.get(factor) < 100) {
                v.error(
                        v.at("hashBalanceFactor"),
                        "hashBalanceFactor: expected 0%, or 100% or more: endpoints cannot all have less "
                                + "than their share");
            }
            return new HashConfig(keys == null ? List.of() : keys, v.get(factor));
        };
    }

    private static HashConfig settings(LoadBalancerConfig balancer) {
        return balancer.settings(HashConfig.class);
    }

    @Override
    public BalancerType type() {
        return TYPE;
    }

    @Override
    public Balancer.Policy create(LoadBalancerConfig config) {
        HashConfig settings = settings(config);
        List<HashKey> keys = settings.keys().stream().map(HashFeature::key).toList();
        return ConsistentHash.policy(keys, settings.balanceFactor());
    }

    @Override
    public String summary(LoadBalancerConfig config) {
        return TYPE.name() + " of "
                + settings(config).keys().stream()
                        .map(HashFeature::key)
                        .map(HashKey::toString)
                        .collect(Collectors.joining(", "));
    }

    private static HashKey key(HashConfig.Key key) {
        String header = key.header();
        String cookie = key.cookie();
        String query = key.queryParameter();
        if (header != null) {
            return new HashKey(HashKey.Source.HEADER, header, key.terminal());
        } else if (cookie != null) {
            return new HashKey(HashKey.Source.COOKIE, cookie, key.terminal());
        } else if (query != null) {
            return new HashKey(HashKey.Source.QUERY_PARAMETER, query, key.terminal());
        }
        return new HashKey(key.path() ? HashKey.Source.PATH : HashKey.Source.CLIENT, "", key.terminal());
    }
}
