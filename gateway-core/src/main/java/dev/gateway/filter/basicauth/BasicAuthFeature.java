package dev.gateway.filter.basicauth;

import dev.gateway.config.yaml.schema.connect.ConnectAuthSchema;
import dev.gateway.config.yaml.schema.filter.AuthFilterSchema;
import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.auth.AuthFileException;
import dev.gateway.filter.auth.AuthWork;
import dev.gateway.filter.auth.UserAccounts;
import dev.gateway.format.AccountFile;
import dev.gateway.overload.memory.CacheMemory;
import java.nio.file.Path;
import java.util.List;

/** Filter type BasicAuth. */
public final class BasicAuthFeature implements FilterFeature<BasicAuthConfig> {
    static final String NAME = "BasicAuth";

    private static final ObjectType<BasicAuthConfig> SETTINGS = ObjectType.of(
            "basicAuth section",
            "Lets only users of a file use the route, by name and password (Basic). The gateway answers others with"
                    + " 401.",
            o -> {
                var realm = o.defaulted(
                        "realm",
                        ConnectAuthSchema.REALM,
                        AuthFilterSchema.REALM,
                        BasicAuthConfig::realm,
                        "Realm that browsers show when they ask for a password.");
                var users = o.required(
                        "usersFile",
                        Types.PATH,
                        BasicAuthConfig::usersFile,
                        "File of htpasswd lines: a user name, ':' and a hash. The gateway reads it again when it "
                                + "changes.");
                var forward = o.defaulted(
                        "forwardAuthorization",
                        Types.BOOLEAN,
                        false,
                        BasicAuthConfig::forwardAuthorization,
                        "Whether the upstream gets the Authorization header.");
                return v -> {
                    if (v.has("usersFile")) {
                        AuthFilterSchema.checkFile(v, "usersFile", v.get(users), (file, text) -> {
                            AccountFile.Users read = AccountFile.users(file, text);
                            String weakness = read.weakness();
                            if (weakness != null) {
                                v.warning(v.at("usersFile"), "usersFile: " + weakness);
                            }
                            if (read.hashes().isEmpty()) {
                                if (read.faults().isEmpty()) {
                                    v.warning(v.at("usersFile"), "usersFile: nobody is in " + file);
                                }
                                return read.faults();
                            }
                            // Such a line locks out its own user only, also while the gateway runs.
                            if (!read.faults().isEmpty()) {
                                v.warning(v.at("usersFile"), "usersFile: " + AccountFile.summary(read.faults()));
                            }
                            return List.of();
                        });
                    }
                    return new BasicAuthConfig(v.position(), v.get(realm), v.get(users), v.get(forward));
                };
            });

    private static final FilterType<BasicAuthConfig, ?> TYPE = FilterType.of(
                    NAME, "basicAuth", BasicAuthConfig.class, SETTINGS)
            .alsoCalled("authbasic digestauth") // nginx, Traefik
            .hinting(
                    FilterHint.Place.RULE,
                    "auth authentication",
                    "write a filter: BasicAuth, APIKey, JWT, ClientCertificate or ExternalAuth");

    /** Key of the users of a file. */
    private record Users(Path file) {}

    @Override
    public FilterType<BasicAuthConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(BasicAuthConfig config, FilterSite site) throws StartException {
        UserAccounts accounts =
                site.states().get(new Users(config.usersFile()), UserAccounts.class, () -> accounts(config, site));
        return new BasicAuth(accounts, config.realm(), config.forwardAuthorization());
    }

    private static UserAccounts accounts(BasicAuthConfig config, FilterSite site) throws StartException {
        try {
            return new UserAccounts(
                    config.usersFile(),
                    AuthWork.of(site.services()),
                    site.services().get(CacheMemory.class));
        } catch (AuthFileException e) {
            throw StartException.at(config.position(), e);
        }
    }
}
