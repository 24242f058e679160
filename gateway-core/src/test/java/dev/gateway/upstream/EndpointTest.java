package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointTest {
    @ParameterizedTest
    @CsvSource({
        "app.example, 80, app.example:80",
        "192.0.2.1, 8080, 192.0.2.1:8080",
        "2001:db8::1, 443, [2001:db8::1]:443",
        "::1, 80, [::1]:80",
        "unix:/run/app.sock, 0, unix:/run/app.sock",
    })
    void isShownAsPeopleWriteAddresses(String host, int port, String shown) {
        assertThat(new Endpoint(0, host, port, 1)).hasToString(shown);
    }

    @Test
    void theSameAddressIsTheSameHostAndPortWhateverTheWeightAndPlace() {
        Endpoint endpoint = new Endpoint(0, "192.0.2.1", 80, 1);
        assertThat(endpoint.isSameAddress(new Endpoint(3, "192.0.2.1", 80, 9))).isTrue();
        assertThat(endpoint.isSameAddress(new Endpoint(0, "192.0.2.1", 81, 1))).isFalse();
        assertThat(endpoint.isSameAddress(new Endpoint(0, "192.0.2.2", 80, 1))).isFalse();
    }
}
