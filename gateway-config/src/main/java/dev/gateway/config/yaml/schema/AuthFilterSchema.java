package dev.gateway.config.yaml.schema;

import dev.gateway.config.AccessConfig.ApiKey;
import dev.gateway.config.KeyPlace;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.TextFiles;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.AccountFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Filters that ask who the client is, key by key, and what those have in common that look for a key or a token. */
public final class AuthFilterSchema {
    /** The realm, if none is written. */
    public static final String REALM = "gateway";

    /** A query parameter that has a key or a token. */
    public static final ScalarType<String> QUERY_PARAMETER =
            Types.word("[A-Za-z0-9._~-]+", "letters, digits and - . _ ~ only");

    /** A cookie that has one. */
    public static final ScalarType<String> COOKIE = Types.word(Types.TOKEN, "letters, digits and !#$%&'*+-.^_`|~ only");

    private static final String DEFAULT_HEADER = "X-API-Key";

    /**
     * Where requests show a key or a token.
     *
     * @param name of the header field, query parameter or cookie
     */
    public record Place(KeyPlace place, String name) {}

    /** Settings of keys. */
    static final ObjectType<ApiKey> API_KEY = ObjectType.of(
            "apiKey section", "Lets only holders of a key use the route. The gateway answers others with 401.", o -> {
                var header = o.optional(
                        "header",
                        Types.HEADER_NAME,
                        key -> nameIn(key, KeyPlace.HEADER),
                        "Header field that has the key. Without this key, queryParameter and cookie it is X-API-Key.");
                var query = o.optional(
                        "queryParameter",
                        QUERY_PARAMETER,
                        key -> nameIn(key, KeyPlace.QUERY_PARAMETER),
                        "Query parameter that has the key.");
                var cookie =
                        o.optional("cookie", COOKIE, key -> nameIn(key, KeyPlace.COOKIE), "Cookie that has the key.");
                var file = o.required(
                        "keysFile",
                        Types.PATH,
                        ApiKey::keysFile,
                        "File of lines with a name, ':' and the SHA-256 of its key in hexadecimal. The gateway reads"
                                + " it again when it changes.");
                var realm = o.defaulted(
                        "realm", ConnectAuthSchema.REALM, REALM, ApiKey::realm, "Realm in WWW-Authenticate.");
                var forward = o.defaulted(
                        "forwardKey", Types.BOOLEAN, false, ApiKey::forwardKey, "Whether the upstream gets the key.");
                inOnePlace(o, "a key");
                return v -> {
                    if (v.has("keysFile")) {
                        checkFile(v, "keysFile", v.get(file), (path, text) -> AccountFile.keys(path, text)
                                .faults());
                    }
                    Place place = place(v.find(header), v.find(query), v.find(cookie), DEFAULT_HEADER);
                    return new ApiKey(
                            v.position(), place.place(), place.name(), v.get(file), v.get(realm), v.get(forward));
                };
            });

    private AuthFilterSchema() {}

    private static @Nullable String nameIn(ApiKey key, KeyPlace place) {
        return key.place() == place ? key.name() : null;
    }

    /**
     * Requires that at most one place is written.
     *
     * @param what is there, as "a key"
     */
    public static void inOnePlace(ObjectType.Declaration<?> o, String what) {
        o.constraint(
                values -> {
                    List<String> written = Stream.of("header", "queryParameter", "cookie")
                            .filter(values::has)
                            .toList();
                    return written.size() < 2
                            ? null
                            : new ObjectType.Finding(
                                    written.get(1),
                                    what + " is in one place: write '" + written.get(0) + "' or '" + written.get(1)
                                            + "'");
                },
                Map.of(
                        "not",
                        Map.of(
                                "anyOf",
                                List.of(
                                        Map.of("required", List.of("header", "queryParameter")),
                                        Map.of("required", List.of("header", "cookie")),
                                        Map.of("required", List.of("queryParameter", "cookie"))))));
    }

    /** Returns the place that is written, or the header field of that name. */
    public static Place place(
            @Nullable String header, @Nullable String query, @Nullable String cookie, String defaultHeader) {
        if (query != null) {
            return new Place(KeyPlace.QUERY_PARAMETER, query);
        } else if (cookie != null) {
            return new Place(KeyPlace.COOKIE, cookie);
        }
        return new Place(KeyPlace.HEADER, header != null ? header : defaultHeader);
    }

    /**
     * Reports the first mistake in a file of names and secrets.
     *
     * @param key names the file
     * @param faults returns what is wrong with a text
     */
    public static void checkFile(Values v, String key, Path file, BiFunction<Path, String, List<String>> faults) {
        try {
            String text = TextFiles.read(file, StandardCharsets.UTF_8, AccountFile.MAX_MEBIBYTES);
            faults.apply(file, text).stream().findFirst().ifPresent(fault -> v.error(v.at(key), key + ": " + fault));
        } catch (InvalidException e) {
            v.error(v.at(key), key + ": " + e.getMessage());
        }
    }
}
