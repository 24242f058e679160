package dev.gateway.config.yaml.schema;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.listener.BindConfig;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ReloadEffect;
import dev.gateway.config.yaml.type.Types;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the admin section is, key by key. */
final class AdminSchema {
    /** A port, with a host before it if others write one. */
    private static final Pattern ADDRESS = Pattern.compile("(?:([A-Za-z0-9.-]+)?:)?([0-9]{1,5})");

    /** The section. */
    static final ObjectType<AdminConfig> ADMIN = ObjectType.of(
            "admin section", "The admin listener, which serves health, metrics and statistics in cleartext.", o -> {
                var address = o.onReload(ReloadEffect.REBIND)
                        .defaulted(
                                "address",
                                Types.ADDRESS.explained(Types::unixHint),
                                "127.0.0.1",
                                admin -> admin.bind().unix() == null
                                        ? admin.bind().address()
                                        : null,
                                "Address to bind.");
                var port = o.onReload(ReloadEffect.REBIND)
                        .defaulted(
                                "port",
                                Types.integer(0, 65535),
                                9901,
                                admin -> admin.bind().unix() == null
                                        ? admin.bind().port()
                                        : null,
                                "TCP port to bind; 0 means any free port.");
                var unix = o.onReload(ReloadEffect.REBIND)
                        .optional(
                                "unix",
                                Types.PATH,
                                admin -> admin.bind().unix(),
                                "Unix-domain socket to bind, instead of address and port.");
                var tokenFile = o.optional(
                        "tokenFile",
                        Types.PATH,
                        AdminConfig::tokenFile,
                        "File of a bearer token. With it, all pages need the token except health pages, "
                                + "/metrics and /stats. Without it, POST requests such as /reload are accepted only "
                                + "from this machine.");
                var hostnames = o.defaulted(
                        "hostnames",
                        new ListType<>(Types.EXACT_HOSTNAME, 0),
                        List.<String>of(),
                        AdminConfig::hostnames,
                        "Host names that requests from other machines may have. IP addresses, names without a "
                                + "dot and names below .svc, .local or .internal are always accepted. This protects "
                                + "from DNS rebinding.");
                var reusePort = o.onReload(ReloadEffect.RESTART)
                        .defaulted(
                                "reusePort",
                                Types.BOOLEAN,
                                false,
                                admin -> admin.bind().reusePort(),
                                "Lets a gateway that starts later bind the port, too. The later one gets all new "
                                        + "connections.");
                var enabled = o.onReload(ReloadEffect.REBIND)
                        .defaulted(
                                "enabled",
                                Types.BOOLEAN,
                                true,
                                AdminConfig::enabled,
                                "Whether there is an admin listener. If the default port is taken, the gateway warns "
                                        + "and runs without.");
                o.single(text -> Types.isOff(text) ? "{enabled: false}" : rewritten(text));
                o.foreign("host ip", "address");
                o.foreign("path", "its pages have fixed paths: remove it");
                o.foreign("tls certificate", "the admin listener has no TLS: remove it");
                o.foreign("username user", "tokenFile");
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

    /** Returns the keys and values for an address that was written as one text, null if the text is no address. */
    private static @Nullable String rewritten(String text) {
        Matcher address = ADDRESS.matcher(text);
        if (!address.matches() || Integer.parseInt(address.group(2)) > 65535) {
            return null;
        }
        String host = address.group(1);
        return "{" + (host == null ? "" : "address: " + host + ", ") + "port: " + address.group(2) + "}";
    }
}
