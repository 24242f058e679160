package dev.gateway.listener;

import dev.gateway.message.RequestHead;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import org.jspecify.annotations.Nullable;

/** The request handler of one connection, which notifies the listener of its first request. */
final class FirstRequest implements RequestHandler {
    private final RequestHandler handler;
    private final Runnable onFirst;
    private boolean told;

    FirstRequest(RequestHandler handler, Runnable onFirst) {
        this.handler = handler;
        this.onFirst = onFirst;
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        if (!told) {
            told = true;
            onFirst.run();
        }
        return handler.onRequest(stream, head, last);
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        handler.onRefused(stream, head, failure);
    }
}
