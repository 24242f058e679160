package dev.gateway.filter.fields;

import dev.gateway.filter.FilterContext;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** Field value: what a filter writes into a field, asked for each time that it is written. Any thread may ask. */
public interface FieldValue {
    /** Returns it as it is configured, without line breaks and other control bytes. */
    AsciiString get();

    /** Returns it for one request; null if the field is to be left out. */
    default @Nullable AsciiString get(FilterContext context) {
        return get();
    }
}
