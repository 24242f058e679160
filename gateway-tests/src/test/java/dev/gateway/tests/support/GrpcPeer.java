package dev.gateway.tests.support;

import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

/** A gRPC service of texts, with every kind of call. */
public final class GrpcPeer implements BindableService {
    public static final Metadata.Key<String> NOTE = Metadata.Key.of("note", Metadata.ASCII_STRING_MARSHALLER);

    public static final MethodDescriptor<String, String> UNARY = method("Unary", MethodType.UNARY);
    public static final MethodDescriptor<String, String> SPLIT = method("Split", MethodType.SERVER_STREAMING);
    public static final MethodDescriptor<String, String> JOIN = method("Join", MethodType.CLIENT_STREAMING);
    public static final MethodDescriptor<String, String> CHAT = method("Chat", MethodType.BIDI_STREAMING);
    public static final MethodDescriptor<String, String> FAIL = method("Fail", MethodType.UNARY);
    public static final MethodDescriptor<String, String> HANG = method("Hang", MethodType.UNARY);

    /** Counted down when a call to {@link #HANG} has arrived. */
    public final CountDownLatch hanging = new CountDownLatch(1);

    /** Counted down when a call to {@link #HANG} was cancelled. */
    public final CountDownLatch cancelled = new CountDownLatch(1);

    @Override
    public ServerServiceDefinition bindService() {
        return ServerServiceDefinition.builder("test.Texts")
                .addMethod(UNARY, ServerCalls.asyncUnaryCall((request, response) -> {
                    response.onNext("re: " + request);
                    response.onCompleted();
                }))
                .addMethod(SPLIT, ServerCalls.asyncServerStreamingCall((request, response) -> {
                    for (String word : request.split(" ", -1)) {
                        response.onNext(word);
                    }
                    response.onCompleted();
                }))
                .addMethod(JOIN, ServerCalls.asyncClientStreamingCall(Joiner::new))
                .addMethod(CHAT, ServerCalls.asyncBidiStreamingCall(Chatter::new))
                .addMethod(FAIL, ServerCalls.asyncUnaryCall((request, response) -> {
                    Metadata trailers = new Metadata();
                    trailers.put(NOTE, request);
                    response.onError(Status.FAILED_PRECONDITION
                            .withDescription("as asked")
                            .asRuntimeException(trailers));
                }))
                .addMethod(HANG, ServerCalls.asyncUnaryCall((request, response) -> {
                    ((ServerCallStreamObserver<String>) response).setOnCancelHandler(cancelled::countDown);
                    hanging.countDown();
                }))
                .build();
    }

    private static MethodDescriptor<String, String> method(String name, MethodType type) {
        return MethodDescriptor.<String, String>newBuilder(new Text(), new Text())
                .setFullMethodName("test.Texts/" + name)
                .setType(type)
                .build();
    }

    /** Answers what it got, when it has got all. */
    private record Joiner(StreamObserver<String> response, StringBuilder text) implements StreamObserver<String> {
        Joiner(StreamObserver<String> response) {
            this(response, new StringBuilder());
        }

        @Override
        public void onNext(String part) {
            text.append(part);
        }

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {
            response.onNext(text.toString());
            response.onCompleted();
        }
    }

    /** Answers each message at once. */
    private record Chatter(StreamObserver<String> response) implements StreamObserver<String> {
        @Override
        public void onNext(String message) {
            response.onNext("re: " + message);
        }

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {
            response.onCompleted();
        }
    }

    /** Texts as UTF-8. */
    private static final class Text implements MethodDescriptor.Marshaller<String> {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
