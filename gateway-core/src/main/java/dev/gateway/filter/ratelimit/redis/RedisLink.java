package dev.gateway.filter.ratelimit.redis;

import dev.gateway.filter.ratelimit.StoreClient;

/** An open connection to Redis. Confined to its event loop. No answer comes before {@link #ask} returns. */
interface RedisLink {
    /** What became of a question: one call of one method, maybe after that of {@link #onSent}. */
    interface Reply {
        /** The question has left. */
        void onSent();

        /** Redis has decided, see {@link StoreClient.Answer#onTaken}. */
        void onTaken(int granted, long lacks);

        /** Redis has refused the command, and says why. */
        void onError(String error);

        /** The connection has ended. */
        void onEnded(String reason);
    }

    /** Asks; what is asked in one turn of the loop is sent together. */
    void ask(StoreClient.Question question, Reply reply);

    /** Closes the connection. Questions under way may still hear of that, also before this returns. */
    void close();
}
