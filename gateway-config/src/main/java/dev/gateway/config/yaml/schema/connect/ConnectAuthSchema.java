package dev.gateway.config.yaml.schema.connect;

import dev.gateway.config.ConnectConfig.Auth;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Variables;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** How clients of tunnels tell who they are, key by key. */
public final class ConnectAuthSchema {
    /** As in the files: no control characters, no space at either end. */
    private static final String NAME_PATTERN = "[^\\s\\x00-\\x1f\\x7f]([^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f])?";

    private static final Pattern NAME = Pattern.compile(NAME_PATTERN);

    /** A name of a user, a token, a certificate or a group. */
    static final ScalarType<String> IDENTITY = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", List.of("string", "number", "boolean"), "pattern", "^(" + NAME_PATTERN + ")$"),
                    "",
                    (text, site) -> {
                        if (text.equals("*")) {
                            throw new InvalidException(
                                    "there is no wildcard: the entry itself says what all others may reach");
                        }
                        if (!NAME.matcher(text).matches()) {
                            throw new InvalidException("expected a name, not " + MessageText.quote(text));
                        }
                        return text;
                    },
                    Variables::escape)
            .named("identity", "A name of a user, token, client certificate or group.");

    /** What clients show when they ask their users for a password. */
    public static final ScalarType<String> REALM =
            Types.text("[ !#-\\[\\]-~]+", "text without quotes, backslashes and non-ASCII characters");

    private record FileKey(Path file) {}

    private static final ObjectType<FileKey> BASIC = file(
            "basic section",
            "User names and passwords (Basic).",
            "usersFile",
            "File of htpasswd lines: a user name, ':' and a hash.");

    private static final ObjectType<FileKey> BEARER = file(
            "bearer section",
            "Tokens (Bearer).",
            "tokensFile",
            "File of lines with a name, ':' and its token or 'sha256:' and its digest.");

    /** How clients tell who they are. */
    static final ObjectType<Auth> AUTH = ObjectType.of(
            "auth section",
            "How clients of tunnels authenticate. At least one of basic, bearer and "
                    + "clientCertificate is required.",
            o -> {
                var realm = o.defaulted(
                        "realm",
                        REALM,
                        "gateway",
                        Auth::realm,
                        "Realm that clients show when they ask for a password.");
                var basic = o.optional(
                        "basic",
                        BASIC,
                        auth -> auth.usersFile() == null ? null : new FileKey(auth.usersFile()),
                        "User names and passwords (Basic).");
                var bearer = o.optional(
                        "bearer",
                        BEARER,
                        auth -> auth.tokensFile() == null ? null : new FileKey(auth.tokensFile()),
                        "Tokens (Bearer).");
                var certificate = o.defaulted(
                        "clientCertificate",
                        Types.BOOLEAN,
                        false,
                        Auth::clientCertificate,
                        "Takes the common name of a verified client certificate as identity. For HTTPS "
                                + "listeners with clientAuth.");
                var groups = o.optional(
                        "groupsFile", Types.PATH, Auth::groupsFile, "File of lines with a group, ':' and its members.");
                o.constraint(
                        values -> values.has("basic") || values.has("bearer") || values.has("clientCertificate")
                                ? null
                                : new ObjectType.Finding(
                                        "", "an auth section needs 'basic', 'bearer' or 'clientCertificate: true'"),
                        Map.of(
                                "anyOf",
                                List.of(
                                        ObjectType.requires("basic"),
                                        ObjectType.requires("bearer"),
                                        ObjectType.requires("clientCertificate"))));
                o.foreign("users usersFile htpasswd", "write basic: {usersFile: …}");
                return v -> {
                    FileKey users = v.find(basic);
                    FileKey tokens = v.find(bearer);
                    if (v.has("clientCertificate") && !v.get(certificate) && users == null && tokens == null) {
                        v.error(v.at("clientCertificate"), "clientCertificate: write true, or say 'basic' or 'bearer'");
                    }
                    return new Auth(
                            v.position(),
                            v.get(realm),
                            users == null ? null : users.file(),
                            tokens == null ? null : tokens.file(),
                            v.find(groups),
                            v.get(certificate));
                };
            });

    private ConnectAuthSchema() {}

    private static ObjectType<FileKey> file(String name, String description, String key, String what) {
        return ObjectType.of(name, description, o -> {
            var file = o.required(key, Types.PATH, FileKey::file, what);
            return v -> new FileKey(v.get(file));
        });
    }
}
