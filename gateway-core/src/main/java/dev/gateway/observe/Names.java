package dev.gateway.observe;

/**
 * Interned names. What lines of the access log name again and again, such as routes and endpoints: as text and as JSON,
 * made once and found by a hash. What needs a place that is taken gets it, so there are never more. Confined to an event
 * loop.
 */
public final class Names {
    private static final int PLACES = 256;

    private final Name[] places = new Name[PLACES];

    /** A name. */
    public static final class Name {
        private final Object named;
        public final String text;
        public final String json; // with its quotes; in ASCII

        private Name(Object named, LineBuffer scratch) {
            this.named = named;
            this.text = named.toString();
            scratch.clear();
            this.json = scratch.put('"').putJson(text).put('"').toString();
        }
    }

    private final LineBuffer scratch = new LineBuffer();

    /** Returns the name of what is equal to this. */
    public Name of(Object named) {
        int hash = named.hashCode();
        int place = (hash ^ hash >>> 8 ^ hash >>> 16) & (PLACES - 1);
        Name name = places[place];
        if (name == null || !name.named.equals(named)) {
            name = new Name(named, scratch);
            places[place] = name;
        }
        return name;
    }
}
