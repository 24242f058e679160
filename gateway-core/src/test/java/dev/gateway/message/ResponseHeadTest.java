package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;

class ResponseHeadTest {
    private static ResponseHead head(int status) {
        return new ResponseHead(status, new AsciiString("Fine"), Heads.fields("A: b"), 7);
    }

    @Test
    void itHasWhatItWasMadeOf() {
        ResponseHead head = head(204);

        assertThat(head.status()).isEqualTo(204);
        assertThat(String.valueOf(head.reason())).isEqualTo("Fine");
        assertThat(head.fields().size()).isEqualTo(1);
        assertThat(head.contentLength()).isEqualTo(7);
    }

    @Test
    void headsBelow200AreInterim() {
        assertThat(head(100).isInterim()).isTrue();
        assertThat(head(199).isInterim()).isTrue();
        assertThat(head(200).isInterim()).isFalse();
        assertThat(head(599).isInterim()).isFalse();
    }
}
