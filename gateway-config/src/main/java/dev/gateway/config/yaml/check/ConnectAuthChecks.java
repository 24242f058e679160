package dev.gateway.config.yaml.check;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.ConnectConfig.Auth;
import dev.gateway.config.ConnectConfig.Policy;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Suggestions;
import dev.gateway.format.AccountFile;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Files of users, tokens and groups can be read, and policies name who is in them. */
final class ConnectAuthChecks {
    private final Scope scope;
    private final ConnectConfig entry;

    private ConnectAuthChecks(Scope scope, ConnectConfig entry) {
        this.scope = scope;
        this.entry = entry;
    }

    /** Reads the names of a file. */
    private interface Reader {
        Set<String> read(Path file) throws InvalidException;
    }

    static void run(ConnectConfig entry, List<ListenerConfig> listeners, Scope scope) {
        ConnectAuthChecks checks = new ConnectAuthChecks(scope, entry);
        Auth auth = entry.auth();
        if (auth == null) {
            if (!entry.rules().policies().isEmpty()) {
                scope.problems.error(
                        scope.at(entry, "policies"),
                        "policies need 'auth': without it clients have no identity, and no policy applies");
            }
            return;
        }
        Set<String> users = checks.names(auth, "basic", "usersFile", auth.usersFile(), checks.users(auth));
        Set<String> tokens = checks.names(auth, "bearer", "tokensFile", auth.tokensFile(), checks.tokens(auth));
        Set<String> groups = checks.names(auth, "", "groupsFile", auth.groupsFile(), AccountNames::groups);
        if (auth.clientCertificate()) {
            checks.certificates(auth, listeners);
        }
        Set<String> known = null;
        if (users != null && tokens != null) {
            known = new LinkedHashSet<>(users);
            known.addAll(tokens);
        }
        if (auth.clientCertificate() && known != null) {
            checks.namesakes(known);
        }
        checks.policies(auth, auth.clientCertificate() ? null : known, groups);
    }

    /** Returns what reads a file of users, and warns if their passwords are badly hashed. */
    private Reader users(Auth auth) {
        return file -> {
            Consumer<String> warning = warning(auth, "basic", "usersFile");
            AccountFile.Users users = AccountNames.users(file, warning);
            String weakness = users.weakness();
            if (weakness != null) {
                warning.accept(weakness);
            }
            return users.hashes().keySet();
        };
    }

    private Reader tokens(Auth auth) {
        return file -> AccountNames.tokens(file, warning(auth, "bearer", "tokensFile"));
    }

    private Consumer<String> warning(Auth auth, String section, String key) {
        return text -> scope.problems.warning(scope.at(auth, section, key), key + ": " + text);
    }

    /** Returns the names in a file, none if there is no file, null if it cannot be read. */
    private @Nullable Set<String> names(Auth auth, String section, String key, @Nullable Path file, Reader reader) {
        if (file == null) {
            return Set.of();
        }
        boolean nested = !section.isEmpty();
        if (!(nested ? scope.wrote(auth, section, key) : scope.wrote(auth, key))) {
            return null;
        }
        Position at = nested ? scope.at(auth, section, key) : scope.at(auth, key);
        try {
            Set<String> names = reader.read(file);
            if (names.isEmpty()) {
                scope.problems.warning(at, key + ": nobody is in " + file);
            }
            return names;
        } catch (InvalidException e) {
            scope.problems.error(at, key + ": " + e.getMessage());
            return null;
        }
    }

    private void certificates(Auth auth, List<ListenerConfig> listeners) {
        boolean other = auth.usersFile() != null || auth.tokensFile() != null;
        List<ListenerConfig> without = listeners.stream()
                .filter(listener -> listener.isHttp() && !asks(listener))
                .toList();
        if (without.isEmpty() || (other && without.size() < listeners.size())) {
            return; // those who come by another listener have another way
        }
        ListenerConfig first = without.get(0);
        scope.problems.error(
                scope.at(auth, "clientCertificate"),
                "clientCertificate needs clientAuth: listener '" + first.name() + "' "
                        + (first.protocols().tls() == null
                                ? "has no TLS, write protocol HTTPS with tls: {clientAuth: required, caFile: …}"
                                : "asks for no certificate, add clientAuth: required and caFile to its tls"));
    }

    private static boolean asks(ListenerConfig listener) {
        TlsConfig tls = listener.protocols().tls();
        return tls != null && tls.clients().auth() != TlsConfig.ClientAuth.NONE;
    }

    /** Warns of users in policies: a certificate authority could issue a certificate with the name of one. */
    private void namesakes(Set<String> users) {
        for (Policy policy : entry.rules().policies()) {
            for (String identity : policy.identities()) {
                if (users.contains(identity)) {
                    scope.problems.warning(
                            scope.at(policy, "identities"),
                            "a client certificate with the common name '" + identity
                                    + "' is the same identity as the user of that name");
                }
            }
        }
    }

    private void policies(Auth auth, @Nullable Set<String> identities, @Nullable Set<String> groups) {
        Map<String, Position> first = new HashMap<>();
        for (Policy policy : entry.rules().policies()) {
            for (String identity : policy.identities()) {
                Position before = first.putIfAbsent(identity, policy.position());
                if (before != null && !before.equals(policy.position())) {
                    scope.problems.warning(
                            scope.at(policy, "identities"),
                            "'" + identity + "' has the policy in line " + before.line()
                                    + " already; the first one applies");
                }
                missing(policy, "identities", identity, identities);
            }
            if (!policy.groups().isEmpty() && auth.groupsFile() == null) {
                scope.problems.error(scope.at(policy, "groups"), "groups need 'groupsFile' in 'auth'");
                continue;
            }
            policy.groups().forEach(group -> missing(policy, "groups", group, groups));
        }
    }

    private void missing(Policy policy, String key, String name, @Nullable Set<String> known) {
        if (known == null || name.isEmpty() || known.contains(name)) {
            return;
        }
        String near = Suggestions.nearest(name, known);
        scope.problems.warning(
                scope.at(policy, key),
                (key.equals("groups") ? "no group '" : "no identity '") + name + "' in the files of 'auth'"
                        + (near == null ? "" : ": did you mean '" + near + "'?"));
    }
}
