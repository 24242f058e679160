package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MethodTest {
    @ParameterizedTest
    @CsvSource({
        "GET,true,true", "HEAD,true,true", "OPTIONS,true,true", "TRACE,true,true", "PUT,false,true",
        "DELETE,false,true", "POST,false,false", "PATCH,false,false", "CONNECT,false,false", "PURGE,false,false"
    })
    void safetyAndIdempotenceAreThoseOfTheRegistry(String name, boolean safe, boolean idempotent) {
        Method method = Method.of(name);

        assertThat(method.isSafe()).isEqualTo(safe);
        assertThat(method.isIdempotent()).isEqualTo(idempotent);
        assertThat(method).hasToString(name);
    }

    @Test
    void registeredMethodsAreSharedWhereverTheirBytesStand() {
        byte[] bytes = "xxGET /".getBytes(StandardCharsets.US_ASCII);

        assertThat(Method.of(bytes, 2, 3)).isSameAs(Method.GET);
        assertThat(Method.of("CONNECT")).isSameAs(Method.CONNECT);
    }

    @Test
    void caseMatters() {
        assertThat(Method.of("get")).isNotEqualTo(Method.GET);
        assertThat(Method.of("get").isIdempotent()).isFalse();
    }

    @Test
    void anUnknownMethodOutlivesTheBytesItWasReadFrom() {
        byte[] bytes = "PURGE".getBytes(StandardCharsets.US_ASCII);
        Method method = Method.of(bytes, 0, 5);
        bytes[0] = 'X';

        assertThat(method).isEqualTo(Method.of("PURGE")).hasSameHashCodeAs(Method.of("PURGE"));
        assertThat(method).isNotEqualTo(Method.of("MERGE"));
    }
}
