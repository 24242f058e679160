package dev.gateway.testkit;

import dev.gateway.testkit.Origin.Behavior;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.HttpMethod;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** What happens in an exchange that passes the filter. */
enum Scenario {
    REQUEST_WITHOUT_BODY("a request without a body"),
    STREAMED_BODIES("bodies in pieces, with trailers"),
    ERROR_OF_UPSTREAM("an upstream that answers 500"),
    UPSTREAM_CLOSES("an upstream that closes without an answer"),
    RESPONSE_BREAKS_OFF("a response that breaks off"),
    REQUEST_BREAKS_OFF("a request that breaks off"),
    CLIENT_LEAVES("a client that leaves in the middle of the response");

    private static final String PIECE = "0123456789abcde\n".repeat(1250);

    final String sentence;

    Scenario(String sentence) {
        this.sentence = sentence;
    }

    /** What a run needs to know. */
    record Setting(
            EventLoopGroup loop,
            Protocol client,
            int port,
            Map<String, String> fields,
            Duration patience,
            Consumer<Answer> answers) {}

    /** Runs it, and returns when the client has seen the end. */
    void run(Setting setting) throws InterruptedException {
        boolean posts = this == STREAMED_BODIES || this == REQUEST_BREAKS_OFF;
        HttpMethod method = posts ? HttpMethod.POST : HttpMethod.GET;
        try (Client client = new Client(setting.loop, setting.client, setting.port, method, this == CLIENT_LEAVES)) {
            client.begin(behavior(), setting.fields, !posts);
            switch (this) {
                case REQUEST_WITHOUT_BODY -> setting.answers.accept(await(client.ended, setting));
                case STREAMED_BODIES -> {
                    client.piece(PIECE);
                    client.piece(PIECE);
                    client.end();
                    setting.answers.accept(await(client.ended, setting));
                }
                case ERROR_OF_UPSTREAM, UPSTREAM_CLOSES -> await(client.ended, setting);
                case RESPONSE_BREAKS_OFF -> await(client.ended.handle((answer, failure) -> 0), setting);
                case REQUEST_BREAKS_OFF -> client.piece(PIECE);
                case CLIENT_LEAVES -> await(client.begun, setting);
            }
        }
    }

    private Behavior behavior() {
        return switch (this) {
            case REQUEST_WITHOUT_BODY -> Behavior.TELL;
            case STREAMED_BODIES, REQUEST_BREAKS_OFF -> Behavior.ECHO;
            case ERROR_OF_UPSTREAM -> Behavior.ERROR;
            case UPSTREAM_CLOSES -> Behavior.CLOSE;
            case RESPONSE_BREAKS_OFF -> Behavior.BREAK;
            case CLIENT_LEAVES -> Behavior.MUCH;
        };
    }

    private static <T> T await(CompletableFuture<T> future, Setting setting) throws InterruptedException {
        try {
            return future.get(setting.patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("the client got no whole answer", e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("the client got no whole answer in " + setting.patience.toMillis() + " ms", e);
        }
    }
}
