package dev.gateway.connect;

import dev.gateway.stream.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Policy decision: what the policy says of a target, and by which rule.
 *
 * @param cause why it is refused, null if it is not
 * @param rule the label of the rule that decided: a configured one, or {@code allowedPorts}, {@code allow} (nothing in
 *     that list matches), {@code literal}, {@code address}, {@code sni}
 * @param reason for people; empty if it is not refused
 */
public record Decision(@Nullable Cause cause, String rule, String reason) {
    static Decision allow(String rule) {
        return new Decision(null, rule, "");
    }

    static Decision refuse(Cause cause, String rule, String reason) {
        return new Decision(cause, rule, reason);
    }

    /** Whether the target may be reached. */
    public boolean isAllowed() {
        return cause == null;
    }
}
