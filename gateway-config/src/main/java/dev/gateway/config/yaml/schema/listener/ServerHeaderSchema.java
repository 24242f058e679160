package dev.gateway.config.yaml.schema.listener;

import static java.util.Map.entry;

import dev.gateway.config.listener.ListenerConfig.ServerHeader;
import dev.gateway.config.listener.ListenerConfig.ServerHeader.Transformation;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.util.Map;

/** What becomes of {@code Server} in responses, key by key. */
final class ServerHeaderSchema {
    private static final Map<String, Transformation> WORDS = Types.ordered(
            entry("passThrough", Transformation.PASS_THROUGH),
            entry("appendIfAbsent", Transformation.APPEND_IF_ABSENT),
            entry("overwrite", Transformation.OVERWRITE),
            entry("remove", Transformation.REMOVE));

    private static final ScalarType<Transformation> TRANSFORMATION = Types.words(
            WORDS,
            Map.of(),
            Map.of("off", "remove", "none", "remove", "false", "remove", "on", "passThrough", "true", "passThrough"));

    static final ObjectType<ServerHeader> SERVER_HEADER =
            ObjectType.of("serverHeader section", "What becomes of Server in responses.", o -> {
                var transformation = o.defaulted(
                        "transformation",
                        TRANSFORMATION,
                        Transformation.PASS_THROUGH,
                        ServerHeader::transformation,
                        "passThrough keeps the Server of upstreams, and the gateway's own responses have its name. "
                                + "appendIfAbsent adds the name to responses without Server. overwrite puts the name into "
                                + "all responses. remove takes Server out of all responses.");
                var name = o.defaulted(
                        "name",
                        Types.word(
                                "[!-~]([ -~]{0,62}[!-~])?",
                                "up to 64 printable ASCII characters, without a space at either end"),
                        "gateway",
                        ServerHeader::name,
                        "What the gateway itself writes into Server.");
                o.foreign("value serverName server", "name"); // Envoy
                o.foreign("serverHeaderTransformation mode", "transformation"); // Envoy
                o.single(text -> Types.isOff(text)
                        ? "{transformation: remove}"
                        : WORDS.containsKey(text) ? "{transformation: " + text + "}" : null);
                return v -> {
                    if (v.has("name") && v.get(transformation) == Transformation.REMOVE) {
                        v.warning(v.atKey("name"), "name has no effect with transformation: remove: leave it out");
                    }
                    return new ServerHeader(v.position(), v.get(transformation), v.get(name));
                };
            });

    private ServerHeaderSchema() {}
}
