package dev.gateway.filter.directresponse;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.SharedBytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;

/** Answers every request alike, without an upstream. */
public final class DirectResponse implements Filter {
    private final int status;
    private final FieldEdits headers;
    private final byte[] body;

    /**
     * Makes the filter.
     *
     * @param status 200 to 599
     * @param headers such as {@code Content-Type}
     * @param body not to be changed afterwards
     * @throws IllegalArgumentException if the status is invalid, or has no body but one is given
     */
    public DirectResponse(int status, List<FieldEdits.Field> headers, byte[] body) {
        if (status < 200 || status > 599) {
            throw new IllegalArgumentException("not a final status: " + status);
        }
        if (body.length > 0 && (status == 204 || status == 205 || status == 304)) {
            throw new IllegalArgumentException("a response with status " + status + " has no body");
        }
        this.status = status;
        this.headers = new FieldEdits(List.of(), headers, List.of());
        this.body = body;
    }

    @Override
    public boolean refusesAll() {
        return status >= 400;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        Fields fields = new Fields();
        headers.apply(fields, context);
        // A buffer of the heap: it needs no release, and a short copy is cheaper than a shared count of references.
        // For HEAD as well: who sends the response leaves the body out, and announces its length.
        ByteBuf content = body.length == 0 ? Unpooled.EMPTY_BUFFER : SharedBytes.of(body);
        return new Verdict.Reply(new ResponseHead(status, null, fields, body.length), content);
    }
}
