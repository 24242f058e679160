package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;

/** What the head of a request is charged with. */
class HeadMemoryTest extends PartRig {
    private static final int LENGTH = 8000;

    private static AsciiString path(char of) {
        return new AsciiString("/" + String.valueOf(of).repeat(LENGTH - 1));
    }

    /** The access log shows what the client has sent, the upstream gets the other one. */
    @Test
    void bothFormsOfAPathAreCharged() {
        ExchangeContext made = exchange();
        made.head.setPath(path('a'));
        made.record.path = made.head.path();
        assertThat(made.admit()).isNull();
        long sent = made.held.bytes();
        made.head.setPath(path('b'));
        assertThat(made.chargeHead()).isNull();
        assertThat(made.held.bytes()).isEqualTo(sent + LENGTH);
        assertThat(made.chargeHead()).isNull();
        assertThat(made.held.bytes()).isEqualTo(sent + LENGTH);
    }

    @Test
    void aPathThatStandsAmongTheFieldsIsNotChargedTwice() {
        ExchangeContext made = exchange();
        AsciiString received = new AsciiString("GET " + path('a') + " HTTP/1.1");
        made.head.setPath(received.subSequence(4, 4 + LENGTH, false));
        made.record.path = made.head.path();
        assertThat(made.admit()).isNull();
        long sent = made.held.bytes();
        made.head.setPath(path('b'));
        assertThat(made.chargeHead()).isNull();
        assertThat(made.held.bytes()).isEqualTo(sent);
    }
}
