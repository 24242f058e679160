package dev.gateway.stream;

import dev.gateway.message.RequestHead;
import org.jspecify.annotations.Nullable;

/** Request handler: takes each request of the connections of one event loop. Called on that loop only. */
public interface RequestHandler {
    /**
     * A request has begun. The handler may answer before it returns.
     *
     * @param last whether no body follows
     * @return who is told what the client does next
     */
    StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last);

    /**
     * What a client sent is not an acceptable request, so no request begins; the handler answers it (status and cause
     * are the failure's) and accounts for it. The adapter then closes the connection or stream as its protocol rules.
     *
     * @param head as much of the head as could be made out, or null
     */
    void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure);
}
