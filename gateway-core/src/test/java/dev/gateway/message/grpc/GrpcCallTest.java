package dev.gateway.message.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.ResponseHead;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What makes a request a call of gRPC, and how such a call ends. */
class GrpcCallTest {
    @ParameterizedTest
    @CsvSource({"5000, 5000m", "99999999, 99999999m", "100000000, 100000S"})
    void aCallSaysHowLongItsAnswerIsWaitedFor(long millis, String written) {
        Fields fields = new Fields();
        GrpcCall.addFields(fields, millis);
        assertThat(fields.toString().lines())
                .containsExactly("Content-Type: application/grpc", "TE: trailers", "grpc-timeout: " + written);
    }

    private static @Nullable String failure(int status, String head, @Nullable String trailers) {
        ResponseHead answer = new ResponseHead(status, null, Heads.fields(head.split(", ")), -1);
        return GrpcCall.failure(answer, trailers == null ? null : Heads.fields(trailers), "shop.Orders");
    }

    @Test
    void theStatusIsInTheTrailersOrInAHeadAlone() {
        String grpc = "content-type: application/grpc+proto";
        assertThat(failure(200, grpc, "grpc-status: 0")).isNull();
        assertThat(failure(200, grpc + ", grpc-status: 0", null)).isNull();
        assertThat(failure(200, grpc + ", grpc-status: 0", "grpc-status: 13"))
                .isEqualTo("answered grpc-status 13 (INTERNAL)");
        assertThat(failure(200, grpc + ", grpc-status: 12", null))
                .isEqualTo("answered grpc-status 12 (UNIMPLEMENTED): it has no shop.Orders");
        assertThat(failure(200, grpc, "x: y")).isEqualTo("answered without grpc-status");
        assertThat(failure(200, grpc, "grpc-status: 11")).isEqualTo("answered grpc-status 11");
        assertThat(failure(200, grpc, "grpc-status: a\u007f long one"))
                .isEqualTo("answered grpc-status of more than 3 characters");
        assertThat(failure(503, grpc, "grpc-status: 0")).isEqualTo("answered 503");
        assertThat(failure(200, "content-type: text/html", "grpc-status: 0"))
                .isEqualTo("answered with something else than gRPC");
    }
}
