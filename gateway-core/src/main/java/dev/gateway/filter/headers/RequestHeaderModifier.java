package dev.gateway.filter.headers;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.message.Authority;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Edits the fields of requests. Setting {@code Host} changes the authority that the upstream is told. */
public final class RequestHeaderModifier implements Filter {
    private final FieldEdits edits;
    private final @Nullable AsciiString authority;

    /**
     * Makes the filter.
     *
     * @throws IllegalArgumentException if {@code Host} is added, removed, or set to what is no authority
     */
    public RequestHeaderModifier(FieldEdits edits) {
        if (edits.remove().contains(FieldName.HOST)
                || edits.add().stream().anyMatch(field -> field.name().equals(FieldName.HOST))) {
            throw new IllegalArgumentException("Host can be set, but neither added nor removed");
        }
        this.authority = edits.set().stream()
                .filter(field -> field.name().equals(FieldName.HOST))
                .map(field -> field.value().get())
                .findFirst()
                .orElse(null);
        if (authority != null && !Authority.isValid(authority)) {
            throw new IllegalArgumentException("not a host: " + authority);
        }
        List<FieldEdits.Field> others = edits.set().stream()
                .filter(field -> !field.name().equals(FieldName.HOST))
                .toList();
        this.edits = new FieldEdits(others, edits.add(), edits.remove());
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        edits.removeTwins(head.fields());
        edits.apply(head.fields(), context);
        if (authority != null) {
            head.setAuthority(authority);
        }
        return Verdict.PROCEED;
    }

    @Override
    public void onRequestTrailers(Fields trailers, FilterContext context) {
        edits.removeTwins(trailers);
        edits.takeOut(trailers);
    }
}
