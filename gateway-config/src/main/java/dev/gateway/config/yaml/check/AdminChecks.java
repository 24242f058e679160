package dev.gateway.config.yaml.check;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.TextFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Who can reach the admin listener, and its token. No message shows what may be a secret. */
final class AdminChecks {
    private static final int MIN_TOKEN = 16;
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*"); // RFC 6750, section 2.1

    private AdminChecks() {}

    static void run(@Nullable AdminConfig admin, Scope scope) {
        if (admin == null || !admin.enabled()) {
            return;
        }
        if (admin.bind().unix() == null
                && admin.tokenFile() == null
                && !AddressChecks.isLoopback(admin.bind().address())) {
            scope.problems.warning(
                    scope.at(admin, "address"),
                    "the admin listener has no authentication, and other machines can reach it at '"
                            + admin.bind().address() + "': prefer 127.0.0.1, or add a tokenFile");
        }
        Path file = admin.tokenFile();
        if (file != null && scope.wrote(admin, "tokenFile")) {
            try {
                token(file);
            } catch (InvalidException e) {
                scope.problems.error(scope.at(admin, "tokenFile"), "tokenFile: " + e.getMessage());
            }
        }
    }

    private static void token(Path file) throws InvalidException {
        String token = TextFiles.read(file, StandardCharsets.US_ASCII, 1).strip();
        if (!TOKEN.matcher(token).matches()) {
            throw new InvalidException(
                    file + " is not a bearer token: expected one line of letters, digits and -._~+/, as made by"
                            + " 'openssl rand -hex 32'");
        }
        if (token.length() < MIN_TOKEN) {
            throw new InvalidException("the token in " + file + " is shorter than " + MIN_TOKEN
                    + " characters: make one with 'openssl rand -hex 32'");
        }
    }
}
