package dev.gateway.listener;

import dev.gateway.message.RequestHead;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import org.jspecify.annotations.Nullable;

/** The front door of one connection, which tells the listener when the connection has asked for something. */
final class FirstRequest implements RequestHandler {
    private final RequestHandler door;
    private final Connection connection;
    private boolean over;

    FirstRequest(RequestHandler door, Connection connection) {
        this.door = door;
        this.connection = connection;
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        if (!over) {
            over = true;
            connection.owner.onRequest(connection);
        }
        return door.onRequest(stream, head, last);
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        door.onRefused(stream, head, failure);
    }
}
