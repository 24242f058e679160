package dev.gateway.config.yaml.schema;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.BindConfig;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import java.util.List;

/** What the admin section is, key by key. */
final class AdminSchema {
    /** The section. */
    static final ObjectType<AdminConfig> ADMIN =
            ObjectType.of("admin section", "Where health, metrics and statistics are served, in cleartext.", o -> {
                var address = o.defaulted(
                        "address",
                        Types.ADDRESS,
                        "127.0.0.1",
                        admin -> admin.bind().unix() == null ? admin.bind().address() : null,
                        "Bound address.");
                var port = o.defaulted(
                        "port",
                        Types.integer(0, 65535),
                        9901,
                        admin -> admin.bind().unix() == null ? admin.bind().port() : null,
                        "Bound port; 0 for any free one.");
                var unix = o.optional(
                        "unix",
                        Types.PATH,
                        admin -> admin.bind().unix(),
                        "Path of a Unix-domain socket, instead of a port.");
                var tokenFile = o.optional(
                        "tokenFile",
                        Types.PATH,
                        AdminConfig::tokenFile,
                        "File of a bearer token. With it, all needs the token but health pages, /metrics and /stats."
                                + " Without it, POST /reload, /drain, /quit and the like are only taken from this machine.");
                var hostnames = o.defaulted(
                        "hostnames",
                        new ListType<>(Types.EXACT_HOSTNAME, 0),
                        List.<String>of(),
                        AdminConfig::hostnames,
                        "Names by which other machines may ask, besides IP addresses, names without a dot, and names"
                                + " under .svc, .local, .internal and the like: web pages could be of other names.");
                var reusePort = o.defaulted(
                        "reusePort",
                        Types.BOOLEAN,
                        false,
                        admin -> admin.bind().reusePort(),
                        "Let a gateway that is started later bind the port too, and have what comes from then on.");
                var enabled = o.defaulted(
                        "enabled",
                        Types.BOOLEAN,
                        true,
                        AdminConfig::enabled,
                        "Whether they are served. Where the default port is taken, the gateway warns and runs without.");
                return v -> {
                    for (String key : List.of("address", "port")) {
                        if (v.has("unix") && v.has(key)) {
                            v.error(v.atKey(key), key + " has no meaning with 'unix': remove it");
                        }
                    }
                    return new AdminConfig(
                            v.position(),
                            v.get(enabled),
                            v.has("address") || v.has("port") || v.has("unix"),
                            new BindConfig(v.get(address), v.get(port), v.find(unix), v.get(reusePort)),
                            v.find(tokenFile),
                            v.get(hostnames));
                };
            });

    private AdminSchema() {}
}
