package dev.gateway.filter.headers;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;

/** Edits the fields of responses. */
public final class ResponseHeaderModifier implements Filter {
    private final FieldEdits edits;
    private final boolean always;

    /** Makes a filter for the responses of upstreams, and for answers that the gateway gives after it. */
    public ResponseHeaderModifier(FieldEdits edits) {
        this(edits, false);
    }

    /**
     * Makes the filter.
     *
     * @param always whether it edits all answers of the gateway, too
     */
    public ResponseHeaderModifier(FieldEdits edits, boolean always) {
        this.edits = edits;
        this.always = always;
    }

    @Override
    public boolean seesAllAnswers() {
        return always;
    }

    @Override
    public void onFailure(Fields answer, FilterContext context) {
        if (always) {
            edits.apply(answer, context);
        }
    }

    /** What clients are not to see, they do not see in a hint of it. */
    @Override
    public void onInterim(ResponseHead head, FilterContext context) {
        edits.takeOut(head.fields());
    }

    @Override
    public void onResponse(ResponseHead head, FilterContext context) {
        edits.apply(head.fields(), context);
    }

    @Override
    public void onResponseTrailers(Fields trailers, FilterContext context) {
        edits.takeOut(trailers);
    }
}
