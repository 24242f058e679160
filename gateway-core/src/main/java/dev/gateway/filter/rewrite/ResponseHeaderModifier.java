package dev.gateway.filter.rewrite;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;

/** Edits the fields of responses. */
public final class ResponseHeaderModifier implements Filter {
    private final FieldEdits edits;

    /** Makes the filter. */
    public ResponseHeaderModifier(FieldEdits edits) {
        this.edits = edits;
    }

    /** What clients are not to see, they do not see in a hint of it. */
    @Override
    public void onInterim(ResponseHead head, FilterContext context) {
        edits.takeOut(head.fields());
    }

    @Override
    public void onResponse(ResponseHead head, FilterContext context) {
        edits.apply(head.fields());
    }

    @Override
    public void onResponseTrailers(Fields trailers, FilterContext context) {
        edits.takeOut(trailers);
    }
}
