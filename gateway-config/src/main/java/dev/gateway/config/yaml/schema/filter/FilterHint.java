package dev.gateway.config.yaml.schema.filter;

/**
 * Hint to a filter type, if such a filter is written under another word or in another place.
 *
 * @param words what others call it, separated by spaces, in lower case and without dashes
 * @param meant the word that is meant, or a hint of its own
 */
public record FilterHint(Place place, String words, String meant) {
    /** Where the words are written. */
    public enum Place {
        FILTER_TYPE,
        RULE,
        MATCH,
        LISTENER,
        LISTENER_LIMITS,
        LISTENER_TLS
    }
}
