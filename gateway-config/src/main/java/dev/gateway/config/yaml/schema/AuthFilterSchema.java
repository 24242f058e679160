package dev.gateway.config.yaml.schema;

import dev.gateway.config.AccessConfig.BasicAuth;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.TextFiles;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.AccountFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;

/** Filters that ask who the client is, key by key. */
final class AuthFilterSchema {
    private static final String REALM = "gateway";

    /** Settings of names and passwords. */
    static final ObjectType<BasicAuth> BASIC = ObjectType.of(
            "basicAuth section",
            "Lets only users of a file use the route, by name and password (Basic). The gateway answers others with 401.",
            o -> {
                var realm = o.defaulted(
                        "realm",
                        ConnectAuthSchema.REALM,
                        REALM,
                        BasicAuth::realm,
                        "Realm that browsers show when they ask for a password.");
                var users = o.required(
                        "usersFile",
                        Types.PATH,
                        BasicAuth::usersFile,
                        "File of htpasswd lines: a user name, ':' and a hash. The gateway reads it again when it "
                                + "changes.");
                var forward = o.defaulted(
                        "forwardAuthorization",
                        Types.BOOLEAN,
                        false,
                        BasicAuth::forwardAuthorization,
                        "Whether the upstream gets the Authorization header.");
                return v -> {
                    if (v.has("usersFile")) {
                        check(v, "usersFile", v.get(users), (file, text) -> AccountFile.users(file, text)
                                .faults());
                    }
                    return new BasicAuth(v.position(), v.get(realm), v.get(users), v.get(forward));
                };
            });

    private AuthFilterSchema() {}

    private static void check(Values v, String key, Path file, BiFunction<Path, String, List<String>> faults) {
        try {
            String text = TextFiles.read(file, StandardCharsets.UTF_8, AccountFile.MAX_MEBIBYTES);
            faults.apply(file, text).stream().findFirst().ifPresent(fault -> v.error(v.at(key), key + ": " + fault));
        } catch (InvalidException e) {
            v.error(v.at(key), key + ": " + e.getMessage());
        }
    }
}
