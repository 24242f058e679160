package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.filter.CredentialPlace;
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

/** What filters that ask who the client is have in common: keys of their settings, and files of names and secrets. */
public final class AuthFilterSchema {
    /** Realm by default. */
    public static final String REALM = "gateway";

    /** Name of a query parameter that has a secret. */
    public static final ScalarType<String> QUERY_PARAMETER =
            Types.word("[A-Za-z0-9._~-]+", "letters, digits and - . _ ~ only");

    /** Name of a cookie that has a secret. */
    public static final ScalarType<String> COOKIE = Types.word(Types.TOKEN, "letters, digits and !#$%&'*+-.^_`|~ only");

    /**
     * Where requests show a key or a token.
     *
     * @param name of the header field, query parameter or cookie
     */
    public record Place(CredentialPlace place, String name) {}

    private AuthFilterSchema() {}

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
            return new Place(CredentialPlace.QUERY_PARAMETER, query);
        } else if (cookie != null) {
            return new Place(CredentialPlace.COOKIE, cookie);
        }
        return new Place(CredentialPlace.HEADER, header != null ? header : defaultHeader);
    }

    /**
     * Reports the mistakes in a file of names and secrets.
     *
     * @param key names the file
     * @param faults returns what is wrong with a text
     */
    public static void checkFile(Values v, String key, Path file, BiFunction<Path, String, List<String>> faults) {
        try {
            String text = TextFiles.read(file, StandardCharsets.UTF_8, AccountFile.MAX_MEBIBYTES);
            List<String> found = faults.apply(file, text);
            if (!found.isEmpty()) {
                v.error(v.at(key), key + ": " + AccountFile.summary(found));
            }
        } catch (InvalidException e) {
            v.error(v.at(key), key + ": " + e.getMessage());
        }
    }
}
