package dev.gateway.config.yaml.schema.listener;

import dev.gateway.config.file.AddressFile;
import dev.gateway.config.listener.IpAccessConfig;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.Cidr;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Rules about client addresses, of a filter or a listener, key by key. */
public final class IpAccessSchema {
    private static final List<String> KEYS = List.of("deny", "denyFiles", "allow", "allowFiles");

    /** Settings. */
    public static final ObjectType<IpAccessConfig> IP_ACCESS = ObjectType.of(
            "ipAccess section",
            "Refuses clients by their addresses. The gateway refuses addresses that deny or denyFiles have. "
                    + "With allow or allowFiles, it also refuses all that these do not have.",
            o -> {
                var deny = o.defaulted(
                        "deny",
                        new ListType<>(Types.CIDR, 0),
                        List.of(),
                        IpAccessConfig::deny,
                        "Addresses that are refused, even if allow has them.");
                var denyFiles = o.defaulted(
                        "denyFiles",
                        new ListType<>(Types.PATH, 0),
                        List.of(),
                        IpAccessConfig::denyFiles,
                        "Files of addresses that are refused, one address or block in a line. The gateway reads them "
                                + "again when they change.");
                var allow = o.optional(
                        "allow",
                        new ListType<>(Types.CIDR, 1),
                        access -> access.allow().isEmpty() ? null : access.allow(),
                        "Addresses that are allowed. Without allow and allowFiles, all are that are not refused.");
                var allowFiles = o.optional(
                        "allowFiles",
                        new ListType<>(Types.PATH, 1),
                        access -> access.allowFiles().isEmpty() ? null : access.allowFiles(),
                        "Files of addresses that are allowed, one address or block in a line. The gateway reads "
                                + "them again when they change.");
                o.constraint(
                        values -> KEYS.stream().anyMatch(values::has)
                                ? null
                                : new ObjectType.Finding(
                                        "", "an ipAccess section needs at least one of " + String.join(", ", KEYS)),
                        Map.of("anyOf", KEYS.stream().map(ObjectType::requires).toList()));
                return v -> {
                    List<Cidr> allowed = orNone(v, allow);
                    unreachable(v, v.get(deny), allowed, v.has("allowFiles"));
                    return new IpAccessConfig(
                            v.position(),
                            v.get(deny),
                            checked(v, "denyFiles", v.get(denyFiles)),
                            allowed,
                            checked(v, "allowFiles", orNone(v, allowFiles)));
                };
            });

    private IpAccessSchema() {}

    private static <T> List<T> orNone(Values v, Key<IpAccessConfig, List<T>> key) {
        @Nullable List<T> written = v.find(key);
        return written == null ? List.of() : written;
    }

    private static List<Path> checked(Values v, String key, List<Path> files) {
        for (Path file : files) {
            try {
                AddressFile.read(file);
            } catch (IOException e) {
                v.error(v.at(key), key + ": " + e.getMessage());
            }
        }
        return files;
    }

    private static void unreachable(Values v, List<Cidr> deny, List<Cidr> allow, boolean more) {
        Stream<Cidr> denied = allow.stream().filter(block -> deny.stream().anyMatch(each -> each.covers(block)));
        List<Cidr> never = denied.toList();
        if (!never.isEmpty() && never.size() == allow.size() && !more) {
            v.error(v.at("allow"), "nobody is allowed: deny has all of allow");
        } else if (!never.isEmpty()) {
            v.warning(v.at("allow"), "allow: " + never.get(0) + " is never allowed: deny has it");
        }
    }
}
