package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.util.List;
import java.util.Map;

/** Parts of requests that requests are told apart by: a list element names one of them. */
public final class RequestParts {
    /** Stands for a part that has no name. */
    public static final ScalarType<Boolean> YES = new ScalarType<>(
            ScalarType.Form.BARE,
            Map.of("const", true),
            true,
            (text, site) -> {
                if (!text.equals("true")) {
                    throw new InvalidException("expected true: remove it to leave this key out");
                }
                return true;
            },
            value -> value);

    public static final ScalarType<String> COOKIE = Types.word("[^\\s=;,\"]+", "the name of a cookie");
    public static final ScalarType<String> QUERY_PARAMETER = Types.word("[^&=#]+", "the name of a query parameter");

    private RequestParts() {}

    /**
     * Requires exactly one of the keys.
     *
     * @param what the object is
     * @param shown the key whose place is told if none is there
     */
    public static <T> void requireOne(ObjectType.Declaration<T> o, List<String> keys, String what, String shown) {
        o.constraint(
                values -> {
                    List<String> written = keys.stream().filter(values::has).toList();
                    return written.size() == 1
                            ? null
                            : new ObjectType.Finding(
                                    written.isEmpty() ? shown : written.get(1),
                                    what + " needs exactly one of " + String.join(", ", keys)
                                            + (written.isEmpty() ? "" : ": write one list element for each"));
                },
                Map.of("oneOf", keys.stream().map(ObjectType::requires).toList()));
    }
}
