package dev.gateway.upstream.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StreamOpenerTest {
    @Test
    void anOpeningWhoseTimeIsOverIsGivenUp() {
        AtomicInteger cancelled = new AtomicInteger();
        StreamOpener.Opening opening = cancelled::incrementAndGet;
        opening.expire();
        assertThat(cancelled).hasValue(1);
    }
}
