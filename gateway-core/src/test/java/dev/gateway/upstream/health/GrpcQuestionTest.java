package dev.gateway.upstream.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.GrpcCheck;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a call of the gRPC health protocol sends, and what its end means. */
class GrpcQuestionTest {
    private static final String SERVING = "00000000020801";

    @Test
    void itIsACallOfTheHealthService() {
        Sent sent = new Sent();
        GrpcQuestion question = question("shop");
        assertThat(question.kind()).isEqualTo(StreamKind.CHECK);
        question.send(sent);
        RequestHead head = Objects.requireNonNull(sent.head);
        assertThat(head.method()).isEqualTo(Method.POST);
        assertThat((CharSequence) head.path()).hasToString("/grpc.health.v1.Health/Check");
        assertThat((CharSequence) head.authority()).hasToString("app.test:9000");
        assertThat((CharSequence) head.fields().first(FieldName.CONTENT_TYPE)).hasToString("application/grpc");
        assertThat((CharSequence) head.fields().first(FieldName.TE)).hasToString("trailers");
        assertThat((CharSequence) head.fields().first(FieldName.of("grpc-timeout")))
                .hasToString("1500m");
        assertThat(sent.body).isEqualTo("00000000060a0473686f70");
    }

    @Test
    void whoServesAndSaysThatTheCallSucceededIsWell() {
        assertThat(failure(head(200, "application/grpc+proto", null), SERVING, "0"))
                .isNull();
    }

    @Test
    void theStatusOfTheCallCountsBeforeItsMessage() {
        ResponseHead head = head(200, "application/grpc", null);
        assertThat(failure(head, SERVING, "14")).isEqualTo("answered grpc-status 14 (UNAVAILABLE)");
        assertThat(failure(head, "00000000020802", "0")).isEqualTo("answered NOT_SERVING");
        assertThat(failure(head, SERVING, null)).isEqualTo("answered without grpc-status");
        assertThat(failure(head, SERVING, "a status")).isEqualTo("answered grpc-status of more than 3 characters");
    }

    @Test
    void aFailedCallMayHaveNoMoreThanAHead() {
        assertThat(failure(head(200, "application/grpc", "12"), "", null))
                .isEqualTo("answered grpc-status 12 (UNIMPLEMENTED): it has no grpc.health.v1.Health");
        assertThat(failure(head(200, "application/grpc", "5"), "", null))
                .isEqualTo("answered grpc-status 5 (NOT_FOUND): it does not know the service 'shop'");
        assertThat(failure(head(200, "application/grpc", "0"), "", null)).isEqualTo("answered without a message");
    }

    @Test
    void whatIsNoCallIsNoGoodAnswer() {
        assertThat(failure(head(503, "text/plain", null), "", null)).isEqualTo("answered 503");
        assertThat(failure(head(200, "text/html", null), SERVING, "0"))
                .isEqualTo("answered with something else than gRPC");
    }

    private static @Nullable String failure(ResponseHead head, String body, @Nullable String status) {
        GrpcQuestion question = question("shop");
        question.onHead(head);
        question.onData(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(body)));
        if (status != null) {
            Fields trailers = new Fields();
            trailers.add(FieldName.of("grpc-status"), status);
            question.onTrailers(trailers);
        }
        return question.failure();
    }

    private static ResponseHead head(int status, String type, @Nullable String grpcStatus) {
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_TYPE, type);
        if (grpcStatus != null) {
            fields.add(FieldName.of("grpc-status"), grpcStatus);
        }
        return new ResponseHead(status, null, fields, RequestHead.UNKNOWN_LENGTH);
    }

    private static GrpcQuestion question(String service) {
        Endpoint endpoint = new Endpoint(0, "app.test", 9000, 1);
        Upstream upstream = new Upstream(
                "app",
                List.of(endpoint),
                RoundRobin::new,
                UpstreamValues.builder().build());
        return new GrpcQuestion(new GrpcCheck(service), 1500, upstream, endpoint);
    }

    /** Keeps what is sent. */
    private static final class Sent implements ClientStream {
        private @Nullable RequestHead head;
        private String body = "";

        @Override
        public void head(RequestHead sent, boolean last) {
            assertThat(last).isFalse();
            head = sent;
        }

        @Override
        public void data(ByteBuf data, boolean last) {
            assertThat(last).isTrue();
            body += ByteBufUtil.hexDump(data);
            data.release();
        }

        @Override
        public void flush() {}

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void consumed(int bytes) {}

        @Override
        public void trailers(Fields trailers) {
            throw new AssertionError("a call has no trailers");
        }

        @Override
        public void reset(Failure failure) {
            throw new AssertionError("nothing is reset");
        }
    }
}
