package dev.gateway.config.yaml.schema.upstream;

import dev.gateway.config.upstream.LoadBalancerConfig;
import dev.gateway.config.value.Concealed;
import dev.gateway.config.yaml.type.FeatureList;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.config.yaml.type.WordOrObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** How an endpoint is chosen, key by key. */
final class LoadBalancerSchema {
    private static final BalancerTypeList TYPES = FeatureList.find(BalancerTypeList.class);

    /** What requests are balanced by if nothing is written. */
    static final LoadBalancerConfig DEFAULT = plain(TYPES.usual().name());

    private static final Map<String, BalancerType> BY_NAME = byName();
    private static final ScalarType<String> POLICY = policy();

    private static final ObjectType<LoadBalancerConfig> OBJECT =
            ObjectType.of("loadBalancer section", "How the gateway selects an endpoint.", o -> {
                var policy = o.required("policy", POLICY, LoadBalancerConfig::policy, "The balancing policy.");
                List<Function<Values, ? extends Record>> settings = new ArrayList<>();
                for (BalancerType type : BY_NAME.values()) {
                    if (type.settings() != null) {
                        settings.add(declare(o, type.name(), type.settings()));
                    }
                }
                o.foreign("sticky stickySession", "write sessionPersistence into the upstream");
                return v -> {
                    List<Record> read = new ArrayList<>();
                    settings.forEach(each -> read.add(each.apply(v)));
                    return new LoadBalancerConfig(v.get(policy), read);
                };
            });

    /** A word, or a mapping. */
    static final Type<LoadBalancerConfig> LOAD_BALANCER =
            new WordOrObject<>(word(), OBJECT, balancer -> balancer.equals(plain(balancer.policy())));

    private LoadBalancerSchema() {}

    private static Map<String, BalancerType> byName() {
        Map<String, BalancerType> types = new LinkedHashMap<>();
        TYPES.inOrder().forEach(type -> types.put(type.name(), type));
        return types;
    }

    private static ScalarType<String> policy() {
        Map<String, String> names = new LinkedHashMap<>();
        Map<String, String> foreign = new LinkedHashMap<>();
        for (BalancerType type : BY_NAME.values()) {
            names.put(type.name(), type.name());
            type.foreign().forEach(other -> foreign.put(other, type.name()));
        }
        return Types.words(names, Map.of(), foreign);
    }

    private static LoadBalancerConfig plain(String policy) {
        return new LoadBalancerConfig(
                policy,
                TYPES.inOrder().stream()
                        .flatMap(type -> Stream.ofNullable(type.settings()))
                        .<Record>map(BalancerType.Settings::unwritten)
                        .toList());
    }

    private static <S extends Record> Function<Values, S> declare(
            ObjectType.Declaration<LoadBalancerConfig> o, String policy, BalancerType.Settings<S> settings) {
        Function<Values, S> reader = settings.declare().apply(o);
        String key = settings.key();
        o.constraint(
                values -> misplaced(values, policy, settings),
                Map.of(
                        "if",
                        Map.of("properties", Map.of("policy", Map.of("const", policy))),
                        "then",
                        ObjectType.requires(key),
                        "else",
                        Map.of("not", ObjectType.requires(key))));
        return reader;
    }

    private static ObjectType.@Nullable Finding misplaced(
            Values values, String policy, BalancerType.Settings<?> settings) {
        String key = settings.key();
        String written = values.resolved("policy");
        if (written.equals(policy) == values.has(key) || !BY_NAME.containsKey(written)) {
            return null;
        }
        return written.equals(policy)
                ? new ObjectType.Finding(
                        "policy", "policy " + policy + " needs '" + key + "': add " + key + ": " + settings.example())
                : new ObjectType.Finding(
                        key,
                        "'" + key + "' is only for policy " + policy + ": write policy: " + policy + ", or remove it");
    }

    private static ScalarType<LoadBalancerConfig> word() {
        return new ScalarType<>(
                ScalarType.Form.TEXT,
                Map.of(
                        "enum",
                        BY_NAME.values().stream()
                                .filter(type -> type.settings() == null)
                                .map(BalancerType::name)
                                .toList()),
                DEFAULT,
                (text, site) -> {
                    String policy = POLICY.parse(text, site);
                    BalancerType type = BY_NAME.get(policy);
                    if (type != null && type.settings() != null) {
                        throw new InvalidException(policy + " needs to know "
                                + type.settings().what() + ": write {policy: " + policy + ", "
                                + type.settings().key() + ": " + type.settings().example() + "}");
                    }
                    return plain(policy);
                },
                balancer -> POLICY.print(balancer.policy(), Concealed.NOTHING));
    }
}
