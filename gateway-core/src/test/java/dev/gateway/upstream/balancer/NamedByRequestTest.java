package dev.gateway.upstream.balancer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Heads;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.BalancedRequest;
import dev.gateway.upstream.Endpoint;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamedByRequestTest {
    private final NamedByRequest balancer = new NamedByRequest();

    @ParameterizedTest
    @CsvSource({
        "CONNECT, app.example:443, app.example, 443",
        "CONNECT, 192.0.2.1:22, 192.0.2.1, 22",
        "CONNECT, [2001:db8::1]:443, 2001:db8::1, 443",
        "GET, app.example, app.example, 80",
        "GET, app.example:, app.example, 80",
        "GET, app.example:8080, app.example, 8080",
        "GET, [::1], ::1, 80",
        "GET, [::1]:81, ::1, 81",
    })
    void theEndpointIsWhatTheRequestNames(String method, String authority, String host, int port) {
        assertThat(balancer.choose(BalancedRequest.of(Heads.request(method, authority, ""))))
                .isEqualTo(new Endpoint(Endpoint.NAMED_INDEX, host, port, 1));
    }

    @ParameterizedTest
    @CsvSource({"CONNECT, app.example", "CONNECT, app.example:", "CONNECT, [::1]", "CONNECT, ''", "GET, ''"})
    void aRequestThatNamesNoHostOrNoPortHasNoEndpoint(String method, String authority) {
        assertThat(balancer.choose(BalancedRequest.of(Heads.request(method, authority, ""))))
                .isNull();
    }

    @Test
    void anAttemptThatFailedIsRepeatedAtTheSameHost() {
        Endpoint failed = new Endpoint(Endpoint.NAMED_INDEX, "app.example", 443, 1);
        assertThat(balancer.choose(new BalancedRequest(
                        Heads.request("CONNECT", "app.example:443", ""), SourceAddress.UNIX, List.of(failed))))
                .isEqualTo(failed);
    }
}
