package dev.gateway.filter.ratelimit;

/** Store client: asks a store on one event loop, where all calls and answers happen. */
public interface StoreClient {
    /**
     * A question: how many of the wanted requests a bucket has.
     *
     * @param key of the bucket
     * @param capacity how many requests a full bucket has, in ticks of {@link #REQUEST} for one request
     * @param ticksPerMicro how fast the bucket fills
     * @param wanted how many requests to take, negative to put some back
     */
    record Question(String key, long capacity, double ticksPerMicro, int wanted) {}

    /** One request, in ticks. */
    long REQUEST = Pace.REQUEST;

    /** Takes the answer: one call of one method. */
    interface Answer {
        /**
         * The store has decided.
         *
         * @param granted how many of the wanted requests it has taken out of the bucket
         * @param lacks how many ticks the bucket lacks now
         */
        void onTaken(int granted, long lacks);

        /** No answer came in time, or the connection broke. */
        void onFailure();
    }

    /** Whether the store can be asked now. */
    boolean mayAsk();

    /**
     * Asks.
     *
     * @return false if the store cannot be asked now; then there is no answer
     */
    boolean ask(Question question, Answer answer);

    /** Returns how often the store has ceased to answer. What was known of its buckets before holds no more. */
    int failures();
}
