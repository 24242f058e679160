package dev.gateway.config.yaml.check;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.format.Cidr;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Who keeps idle connections for longer: a proxy in front that does sends requests on connections that the gateway is closing,
 * and answers 502.
 */
final class IdleChecks {
    /** From these addresses, Google's load balancers connect to servers. */
    private static final List<Cidr> GOOGLE =
            Stream.of("35.191.0.0/16", "130.211.0.0/22").map(IdleChecks::block).toList();

    /** How long they keep an idle connection, which nobody can change. */
    private static final Duration OF_GOOGLE = Duration.ofMinutes(10);

    /** How long AWS Application Load Balancers keep one by default. */
    private static final Duration OF_AWS = Duration.ofMinutes(1);

    private IdleChecks() {}

    private static Cidr block(String text) {
        return Objects.requireNonNull(Cidr.parse(text));
    }

    static void run(GatewayConfig config, Scope scope) {
        for (ListenerConfig listener : config.listeners()) {
            List<Cidr> proxies = listener.http().trustedProxies();
            Duration idle = listener.timeouts().idle();
            if (proxies.isEmpty() || idle.isZero()) {
                continue;
            }
            if (proxies.stream().anyMatch(each -> GOOGLE.stream().anyMatch(google -> google.covers(each)))) {
                warn(
                        listener,
                        scope,
                        idle,
                        OF_GOOGLE,
                        "Google's load balancers keep idle connections for 600s",
                        "620s");
            } else {
                warn(
                        listener,
                        scope,
                        idle,
                        OF_AWS,
                        "many load balancers keep idle connections for 60s (AWS) or longer",
                        "75s, the default");
            }
        }
    }

    private static void warn(
            ListenerConfig listener, Scope scope, Duration idle, Duration theirs, String why, String better) {
        if (idle.compareTo(theirs) <= 0) {
            scope.problems.warning(
                    scope.at(listener.timeouts(), "idle"),
                    "idle: " + why + ", and send requests on those that the gateway closes: use " + better);
        }
    }
}
