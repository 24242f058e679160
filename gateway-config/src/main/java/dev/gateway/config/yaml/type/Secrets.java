package dev.gateway.config.yaml.type;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Secret detection. Tells which values must not be shown: by the name of what they are for, and by where they come from.
 */
public final class Secrets {
    /** Stands for a secret when printed; itself valid as a header's value and as a regular expression. */
    public static final String MASK = "<masked>";

    private static final Pattern WORD = Pattern.compile(
            "auth|cookie|secret|token|pass|pwd|api-?_?key|credential|private|sign|jwt|session|bearer|hmac|assertion"
                    + "|(^|[-_])(key|sig)($|[-_])");

    private Secrets() {}

    /** Whether a value must not be shown: because of what it is for, or because it comes from the environment. */
    public static boolean isSecret(String name, String written) {
        return isSecretName(name) || Variables.in(written);
    }

    /** Returns what is shown instead of a value; what must begin with a slash still does. */
    static Object mask(Object printed) {
        if (printed instanceof List<?> list) {
            return list.stream().map(Secrets::mask).toList();
        }
        return printed instanceof String text ? text.startsWith("/") ? "/" + MASK : MASK : printed;
    }

    static boolean isSecretName(String name) {
        return WORD.matcher(name.toLowerCase(Locale.ROOT)).find();
    }
}
