package dev.gateway.config.yaml;

import java.util.Locale;
import java.util.regex.Pattern;

/** Tells which values must not be shown: by the name of what they are for, and of the variable that they come from. */
final class Secrets {
    /** Stands for a secret when printed; itself valid as a header's value and as a regular expression. */
    static final String MASK = "<masked>";

    private static final Pattern WORD = Pattern.compile(
            "auth|cookie|secret|token|passw|api-?_?key|credential|private|signature|(^|[-_])key($|[-_])");

    private Secrets() {}

    static boolean isSecret(String name, String written) {
        return isSecretName(name) || Variables.names(written).stream().anyMatch(Secrets::isSecretName);
    }

    private static boolean isSecretName(String name) {
        return WORD.matcher(name.toLowerCase(Locale.ROOT)).find();
    }
}
