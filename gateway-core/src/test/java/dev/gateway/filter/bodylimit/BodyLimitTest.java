package dev.gateway.filter.bodylimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.Scheme;
import dev.gateway.stream.Cause;
import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;

/** What is refused at once, and what is left to be counted. */
class BodyLimitTest {
    private final FakeContext context = FakeContext.from("192.0.2.1");
    private final BodyLimit limit = new BodyLimit(10);

    private static RequestHead head(long length) {
        return new RequestHead(
                Method.POST, Scheme.HTTP, new AsciiString("shop.example"), new AsciiString("/"), new Fields(), length);
    }

    @Test
    void whatIsAnnouncedToBeTooLargeIsRefusedAtOnce() {
        assertThat(limit.onRequest(head(11), context)).isInstanceOfSatisfying(Verdict.Refuse.class, refusal -> {
            assertThat(refusal.failure().cause()).isEqualTo(Cause.BODY_TOO_LARGE);
            assertThat(refusal.failure().status()).isEqualTo(413);
            assertThat(refusal.failure().detail()).isEqualTo("Content-Length 11 is more than 10 bytes (BodyLimit)");
        });
    }

    @Test
    void anyOtherIsCounted() {
        assertThat(limit.onRequest(head(10), context)).isEqualTo(Verdict.PROCEED);
        assertThat(limit.onRequest(head(RequestHead.UNKNOWN_LENGTH), context)).isEqualTo(Verdict.PROCEED);
        assertThat(context.maxBody).isEqualTo(10);
        assertThat(context.limitedBy).isEqualTo("BodyLimit");
    }

    @Test
    void aRuleThatRefusesIsGuarded() {
        assertThat(limit.guards()).isTrue();
    }
}
