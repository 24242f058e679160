package dev.gateway.exchange.route;

/**
 * Route mismatch: what of a request is not as a match wants it.
 *
 * @param part what kind of condition
 * @param index which of the match's headers or query parameters, 0 for other parts
 */
public record Miss(Part part, int index) {
    /** What a condition is about, in the order in which requests are looked at. */
    public enum Part {
        HOST,
        PATH,
        METHOD,
        HEADER,
        QUERY
    }
}
