package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ViaSignature;
import org.junit.jupiter.api.Test;

class ViaLoopDetectorTest {
    private final ViaLoopDetector guard = new ViaLoopDetector(ViaSignature.random());
    private final FakeContext context = FakeContext.from("192.0.2.9");

    private static RequestHead request(String... via) {
        RequestHead head = Heads.request("CONNECT", "a.test:443", "");
        for (String each : via) {
            head.fields().add(FieldName.VIA, each);
        }
        return head;
    }

    @Test
    void whatComesForTheFirstTimeIsSigned() {
        RequestHead head = request("1.1 fred, 1.1 gateway", "2.0 gateway-000000000000");
        assertSame(Verdict.PROCEED, guard.onRequest(head, context));
        assertThat(head.fields().toString())
                .matches("(?s).*Via: 1\\.1 fred, 1\\.1 gateway, 2\\.0 gateway-0{12}, 1\\.1 gateway-[0-9a-f]{12}\n");
    }

    @Test
    void whatComesBackIsRefused() {
        RequestHead head = request();
        guard.onRequest(head, context);
        head.fields().add(FieldName.VIA, "1.1 wilma");
        Verdict verdict = guard.onRequest(head, context);
        assertThat(verdict).isInstanceOf(Verdict.Refuse.class);
        assertThat(((Verdict.Refuse) verdict).failure().cause()).isEqualTo(Cause.LOOP_DETECTED);
        assertThat(((Verdict.Refuse) verdict).failure().status()).isEqualTo(508);
    }

    @Test
    void noGatewayTakesAnothersNameForItsOwn() {
        RequestHead head = request();
        guard.onRequest(head, context);
        assertSame(Verdict.PROCEED, new ViaLoopDetector(ViaSignature.random()).onRequest(head, context));
    }
}
