package dev.gateway.filter.ratelimit;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.stream.Collectors;

/**
 * RateLimit fields of responses (draft-ietf-httpapi-ratelimit-headers-10): {@code RateLimit-Policy} names the limits,
 * {@code RateLimit} says what they leave to this client. Immutable.
 */
final class LimitFields {
    private static final FieldName POLICY = FieldName.of("RateLimit-Policy");
    private static final FieldName STATE = FieldName.of("RateLimit");

    private final AsciiString policy;
    private final List<LimitPolicy> policies;

    LimitFields(List<LimitPolicy> policies) {
        this.policies = policies;
        this.policy = new AsciiString(policies.stream().map(LimitFields::policy).collect(Collectors.joining(", ")));
    }

    private static String policy(LimitPolicy policy) {
        String quota = '"' + policy.name() + "\";q=" + policy.quota();
        return quota
                + (policy.unit() == null ? "" : ";qu=\"" + policy.unit() + '"')
                + (policy.windowSeconds() == 0 ? "" : ";w=" + policy.windowSeconds());
    }

    /** Adds what the limits leave after a request for which that much was taken. */
    void add(Fields fields, Limit[] limits, long[] taken) {
        StringBuilder state = new StringBuilder(32 * limits.length);
        for (int i = 0; i < limits.length; i++) {
            state.append(i == 0 ? "" : ", ");
            LimitPolicy of = policies.get(i);
            append(state, of, Math.min(of.quota(), limits[i].left(taken[i])), limits[i].secondsToFull(taken[i]));
        }
        fields.add(POLICY, policy);
        fields.add(STATE, state);
    }

    /** Adds that a limit leaves nothing until some seconds have passed. */
    void addRefused(Fields fields, int limit, long seconds) {
        StringBuilder state = new StringBuilder(32);
        append(state, policies.get(limit), 0, seconds);
        fields.add(POLICY, policy);
        fields.add(STATE, state);
    }

    private static void append(StringBuilder state, LimitPolicy of, long left, long seconds) {
        state.append('"').append(of.name()).append("\";r=").append(left);
        if (seconds > 0) {
            state.append(";t=").append(seconds);
        }
    }
}
