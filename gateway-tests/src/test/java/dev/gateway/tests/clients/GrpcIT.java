package dev.gateway.tests.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.gateway.tests.support.GrpcPeer;
import dev.gateway.tests.support.Rig;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** gRPC, as its Java implementation speaks it, passes through in cleartext and by TLS. */
class GrpcIT {
    private final GrpcPeer service = new GrpcPeer();
    private Server server;
    private Rig rig;
    private ManagedChannel channel;

    @BeforeEach
    void startServer() throws Exception {
        server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .addService(service)
                .build()
                .start();
        rig = Rig.to(server.getPort()).upstreamProtocol("h2c").start();
    }

    @AfterEach
    void stop() throws Exception {
        channel.shutdownNow();
        channel.awaitTermination(10, TimeUnit.SECONDS);
        rig.close();
        server.shutdownNow().awaitTermination();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unaryCallsAreAnswered(boolean tls) throws Exception {
        connect(tls);
        assertThat(call("hello")).isEqualTo("re: hello");
        String large = "x".repeat(1_000_000);
        assertThat(call(large)).isEqualTo("re: " + large);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void manyMessagesComeFromTheServer(boolean tls) throws Exception {
        connect(tls);
        List<String> words = IntStream.range(0, 2000).mapToObj(i -> "w" + i).toList();
        Iterator<String> answers =
                ClientCalls.blockingServerStreamingCall(channel, GrpcPeer.SPLIT, options(), String.join(" ", words));
        assertThat(answers).toIterable().containsExactlyElementsOf(words);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void manyMessagesComeFromTheClient(boolean tls) throws Exception {
        connect(tls);
        Answers answers = new Answers();
        StreamObserver<String> requests = ClientCalls.asyncClientStreamingCall(newCall(GrpcPeer.JOIN), answers);
        for (int i = 0; i < 2000; i++) {
            requests.onNext("part " + i + ", ");
        }
        requests.onCompleted();
        assertThat(answers.take()).startsWith("part 0, part 1, ").endsWith("part 1999, ");
        assertThat(answers.take()).isEqualTo("completed");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void bothSidesTalkInTurn(boolean tls) throws Exception {
        connect(tls);
        Answers answers = new Answers();
        StreamObserver<String> requests = ClientCalls.asyncBidiStreamingCall(newCall(GrpcPeer.CHAT), answers);
        for (int i = 0; i < 50; i++) {
            requests.onNext("message " + i);
            assertThat(answers.take()).isEqualTo("re: message " + i);
        }
        requests.onCompleted();
        assertThat(answers.take()).isEqualTo("completed");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFailureComesWithItsStatusAndTrailers(boolean tls) throws Exception {
        connect(tls);
        StatusRuntimeException failure = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> ClientCalls.blockingUnaryCall(channel, GrpcPeer.FAIL, options(), "a note"));
        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(failure.getStatus().getDescription()).isEqualTo("as asked");
        Metadata trailers = Status.trailersFromThrowable(failure);
        assertThat(trailers.get(GrpcPeer.NOTE)).isEqualTo("a note");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCancelledCallIsCancelledAtTheServer(boolean tls) throws Exception {
        connect(tls);
        ClientCall<String, String> call = newCall(GrpcPeer.HANG);
        ClientCalls.asyncUnaryCall(call, "wait", new Answers());
        assertThat(service.hanging.await(20, TimeUnit.SECONDS)).isTrue();
        call.cancel("changed my mind", null);
        assertThat(service.cancelled.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(call("the connection goes on")).isEqualTo("re: the connection goes on");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDeadlineEndsTheCallOnBothSides(boolean tls) throws Exception {
        connect(tls);
        StatusRuntimeException failure = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> ClientCalls.blockingUnaryCall(
                        channel,
                        GrpcPeer.HANG,
                        CallOptions.DEFAULT.withDeadlineAfter(500, TimeUnit.MILLISECONDS),
                        "too late"));
        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(service.cancelled.await(20, TimeUnit.SECONDS)).isTrue();
    }

    private void connect(boolean tls) throws Exception {
        NettyChannelBuilder builder =
                NettyChannelBuilder.forAddress(new InetSocketAddress("127.0.0.1", tls ? rig.tlsPort() : rig.port()));
        if (tls) {
            builder.sslContext(GrpcSslContexts.forClient()
                    .trustManager(InsecureTrustManagerFactory.INSTANCE)
                    .build());
        } else {
            builder.usePlaintext();
        }
        channel = builder.build();
    }

    private String call(String text) {
        return ClientCalls.blockingUnaryCall(channel, GrpcPeer.UNARY, options(), text);
    }

    private ClientCall<String, String> newCall(io.grpc.MethodDescriptor<String, String> method) {
        return channel.newCall(method, options());
    }

    private static CallOptions options() {
        return CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    /** Collects what came, and how it ended, as texts. */
    private static final class Answers implements StreamObserver<String> {
        private final BlockingQueue<String> received = new ArrayBlockingQueue<>(10_000);

        @Override
        public void onNext(String value) {
            received.add(value);
        }

        @Override
        public void onError(Throwable failure) {
            received.add("failed: " + failure);
        }

        @Override
        public void onCompleted() {
            received.add("completed");
        }

        String take() throws InterruptedException {
            String next = received.poll(20, TimeUnit.SECONDS);
            return next == null ? "nothing" : next;
        }
    }
}
