package dev.gateway.filter.directresponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Filter;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.message.Heads;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class DirectResponseTest {
    @Test
    void aDirectResponseAnswersEveryRequestAlike() {
        byte[] body = "teapot".getBytes(StandardCharsets.US_ASCII);
        Filter filter = new DirectResponse(418, List.of(FieldEdits.Field.of("Content-Type", "text/plain")), body);

        for (int i = 0; i < 2; i++) {
            Verdict.Reply reply = (Verdict.Reply) filter.onRequest(Heads.get("a", "/"), FakeContext.from("192.0.2.1"));
            assertThat(reply.head().status()).isEqualTo(418);
            assertThat(reply.head().contentLength()).isEqualTo(6);
            assertThat(reply.head().fields()).hasToString("Content-Type: text/plain\n");
            assertThat(reply.body().toString(StandardCharsets.US_ASCII)).isEqualTo("teapot");
            reply.body().release();
        }
    }

    @Test
    void aDirectResponseToHeadSaysHowLongTheBodyWouldBe() {
        Filter filter = new DirectResponse(200, List.of(), new byte[5]);

        Verdict.Reply reply =
                (Verdict.Reply) filter.onRequest(Heads.request("HEAD", "a", "/"), FakeContext.from("192.0.2.1"));

        assertThat(reply.head().contentLength()).isEqualTo(5);
        assertThat(reply.body().readableBytes()).isEqualTo(5);
        reply.body().release();
    }

    @Test
    void aDirectResponseIsFinalAndHasABodyOnlyWhereOneMayBe() {
        assertThatThrownBy(() -> new DirectResponse(103, List.of(), new byte[0]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new DirectResponse(204, List.of(), new byte[1]))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
