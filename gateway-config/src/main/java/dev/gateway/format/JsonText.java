package dev.gateway.format;

import java.util.Map;

/**
 * JSON writer: builds a JSON document on one line. The caller closes each object and array that it opens; the
 * writer sets the commas.
 */
public final class JsonText {
    private final StringBuilder out = new StringBuilder(4096);

    /** Opens an object, as an element of an array or as the document. */
    public JsonText object() {
        separate();
        out.append('{');
        return this;
    }

    /** Opens an object, as a member of one. */
    public JsonText object(String name) {
        name(name);
        return object();
    }

    /** Closes an object. */
    public JsonText endObject() {
        out.append('}');
        return this;
    }

    /** Opens an array, as a member of an object. */
    public JsonText array(String name) {
        name(name);
        separate();
        out.append('[');
        return this;
    }

    /** Closes an array. */
    public JsonText endArray() {
        out.append(']');
        return this;
    }

    /** Adds a member that is a text. */
    public JsonText put(String name, String value) {
        name(name);
        JsonString.append(out, value);
        return this;
    }

    /** Adds a member that is a whole number. */
    public JsonText put(String name, long value) {
        name(name);
        out.append(value);
        return this;
    }

    /** Adds a member that is a number; {@code null} if it is not a number. */
    public JsonText put(String name, double value) {
        name(name);
        out.append(Double.isFinite(value) ? Double.toString(value) : "null");
        return this;
    }

    /** Adds a member that is true or false. */
    public JsonText put(String name, boolean value) {
        name(name);
        out.append(value);
        return this;
    }

    /** Adds a member that is an object of whole numbers. */
    public JsonText put(String name, Map<String, Long> values) {
        object(name);
        values.forEach(this::put);
        return endObject();
    }

    /** Adds a member that is an array of whole numbers. */
    public JsonText put(String name, long[] values) {
        array(name);
        for (long value : values) {
            separate();
            out.append(value);
        }
        return endArray();
    }

    /** Adds a member that is an array of numbers. */
    public JsonText put(String name, double[] values) {
        array(name);
        for (double value : values) {
            separate();
            out.append(value);
        }
        return endArray();
    }

    private void name(String name) {
        separate();
        JsonString.append(out, name);
        out.append(':');
    }

    /** What ends in a quote, a bracket or a digit is complete; a text's own characters are never last. */
    private void separate() {
        if (out.length() > 0) {
            char last = out.charAt(out.length() - 1);
            if (last != '{' && last != '[' && last != ':') {
                out.append(',');
            }
        }
    }

    /** Returns the document. */
    @Override
    public String toString() {
        return out.toString();
    }
}
