package dev.gateway.filter.ratelimit.redis;

/** Told how a store is, as one event loop sees it. */
interface LoopHealth {
    /** It answers. */
    void onUp();

    /** It answers, but cannot count by one key. */
    void onKeyError(String key, String error);

    /** It does not, or does not any more. */
    void onDown(String reason);
}
