package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.SteadyLoad;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The endpoints of an upstream are replaced under load. */
@Timeout(180)
class RollingEndpointsIT {
    private static final int REPLACEMENTS = 100;

    private static String yaml(String protocol, Origin... origins) {
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes: [{name: all, rules: [{backendRefs: [{name: app}]}]}]
                upstreams:
                  - {name: app, protocol: %s, endpoints: [%s]}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                drain: {timeout: 5s}
                """
                .formatted(
                        protocol,
                        Arrays.stream(origins)
                                .map(origin -> "{host: 127.0.0.1, port: " + origin.port() + "}")
                                .collect(Collectors.joining(", ")));
    }

    private static Origin origin() throws Exception {
        return Origin.start().otherwise(Behaviors.text("ok"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void allEndpointsAreReplacedAHundredTimesAndNoRequestFails(String protocol) throws Exception {
        try (Origin a = origin();
                Origin b = origin();
                Origin c = origin();
                Origin d = origin();
                Rig rig = Rig.start(yaml(protocol, a, b));
                SteadyLoad load = new SteadyLoad(rig)) {
            for (int i = 0; i < REPLACEMENTS; i++) {
                rig.reload(i % 2 == 0 ? yaml(protocol, c, d) : yaml(protocol, a, b));
                load.goOnFor(20);
            }
            load.stop();
            assertThat(rig.metric("gateway_config_generation")).isGreaterThan(REPLACEMENTS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http1", "h2c"})
    void anEndpointThatStaysKeepsItsConnections(String protocol) throws Exception {
        try (Origin stays = origin();
                Origin b = origin();
                Origin c = origin();
                Rig rig = Rig.start(yaml(protocol, stays));
                SteadyLoad load = new SteadyLoad(rig)) {
            load.goOnFor(200);
            rig.reload(yaml(protocol, stays, b));
            load.goOnFor(100);
            rig.reload(yaml(protocol, c, stays));
            load.goOnFor(100);
            rig.reload(yaml(protocol, stays));
            load.goOnFor(200);
            load.stop();
            // One for each client at most, as none was closed to be made again.
            assertThat(stays.connections()).isBetween(1, Peers.values().length);
        }
    }
}
