package dev.gateway.filter.ratelimit.redis;

import io.netty.channel.EventLoop;

/** Makes connections to Redis, ready for questions. */
interface RedisConnector {
    /** Takes the connection. All calls are on the loop, maybe before {@link #connect} returns. */
    interface Listener {
        /** It is ready. */
        void onConnected(RedisLink link);

        /** The attempt has failed, or the connection has ended. Called once, as the last call. */
        void onClosed(String reason);
    }

    /** A connection in the making. */
    interface Attempt {
        /** Ends it, unless it has ended: its listener hears nothing any more. To be called on its loop. */
        void cancel();
    }

    /** Connects on a loop, which is the caller's. */
    Attempt connect(EventLoop loop, Listener listener);
}
