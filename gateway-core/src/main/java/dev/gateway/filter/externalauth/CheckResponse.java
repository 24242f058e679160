package dev.gateway.filter.externalauth;

import dev.gateway.filter.externalauth.FieldEdit.Action;
import dev.gateway.message.FieldName;
import dev.gateway.message.grpc.MalformedMessageException;
import dev.gateway.message.grpc.ProtoReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code envoy.service.auth.v3.Authorization/Check} has answered. Fields of later versions, and metadata for other
 * filters of Envoy, are ignored.
 */
final class CheckResponse {
    /** More header fields than a server has a reason to edit. */
    static final int MOST_EDITS = 100;

    private static final int FORBIDDEN = 403;
    private static final int OVERHEAD = 256; // bytes of this and its lists

    /** Of google.rpc.Code; 0 is OK. Null if the answer has none. */
    private @Nullable Long code;

    private boolean hasConsent;
    private boolean hasRefusal;
    private boolean isError;
    private int edits;

    // of a consent
    private final List<FieldEdit> request = new ArrayList<>();
    private final List<FieldName> removed = new ArrayList<>();
    private final List<FieldEdit> response = new ArrayList<>();
    private boolean editsQuery;

    // of a refusal
    private long status = FORBIDDEN;
    private final List<FieldEdit> refusal = new ArrayList<>();
    private ByteBuf body = Unpooled.EMPTY_BUFFER; // a part of the answer

    private @Nullable String problem;

    private CheckResponse() {}

    /**
     * Reads an answer as far as it can be read; {@link #problem} says what is wrong with it.
     *
     * @param message in the framing of gRPC, owned by the caller
     */
    static CheckResponse read(ByteBuf message) {
        CheckResponse read = new CheckResponse();
        try {
            read.read(ProtoReader.open(message));
        } catch (MalformedMessageException e) {
            read.problem = "answered " + e.getMessage();
        }
        return read;
    }

    private void read(ProtoReader in) throws MalformedMessageException {
        while (in.next()) {
            switch (in.field()) {
                case 1 -> readStatus(in.message());
                case 2 -> readRefusal(in.message());
                case 3 -> readConsent(in.message());
                case 5 -> isError = true;
                default -> {}
            }
        }
        if (code == null && hasConsent) {
            code = 0L; // as Envoy takes it
        }
        if (isError) {
            problem = "answered that it failed (error_response)";
        } else if (code == null) {
            problem = "answered without a status";
        } else if (isRefusal() && (status < 200 || status > 599)) {
            problem = "answered with the HTTP status " + status;
        } else if (!isRefusal() && editsQuery) {
            problem = "edits query parameters, which is not supported";
        }
    }

    private void readStatus(ProtoReader in) throws MalformedMessageException {
        code = 0L;
        while (in.next()) {
            if (in.field() == 1) {
                code = in.number();
            }
        }
    }

    private void readRefusal(ProtoReader in) throws MalformedMessageException {
        hasRefusal = true;
        while (in.next()) {
            switch (in.field()) {
                case 1 -> status = httpStatus(in.message());
                case 2 -> add(refusal, FieldEdit.read(in.message(), Action.APPEND_IF_EXISTS_OR_ADD));
                case 3 -> body = in.bytes();
                default -> {}
            }
        }
    }

    private static long httpStatus(ProtoReader in) throws MalformedMessageException {
        long found = 0;
        while (in.next()) {
            if (in.field() == 1) {
                found = in.number();
            }
        }
        return found == 0 ? FORBIDDEN : found;
    }

    private void readConsent(ProtoReader in) throws MalformedMessageException {
        hasConsent = true;
        while (in.next()) {
            switch (in.field()) {
                case 2 -> add(request, FieldEdit.read(in.message(), Action.OVERWRITE_IF_EXISTS_OR_ADD));
                case 5 -> add(removed, FieldEdit.name(in.bytes()));
                case 6 -> add(response, FieldEdit.read(in.message(), Action.APPEND_IF_EXISTS_OR_ADD));
                case 7, 8 -> editsQuery = true;
                default -> {}
            }
        }
    }

    private <T> void add(List<T> to, T edit) throws MalformedMessageException {
        if (++edits > MOST_EDITS) {
            throw new MalformedMessageException("with more than " + MOST_EDITS + " header fields");
        }
        to.add(edit);
    }

    /** Returns what is wrong with the answer, null if it can be carried out. The text continues the server's name. */
    @Nullable
    String problem() {
        return problem;
    }

    /** Whether the server refuses the request. If the answer cannot be read, it may do so where this says no. */
    boolean isRefusal() {
        return !isError && ((code != null && code != 0) || (problem != null && hasRefusal));
    }

    /** Returns the code of the status. */
    long code() {
        return code == null ? 0 : code;
    }

    /** Whether the server has an answer for a client that it refuses. */
    boolean hasAnswer() {
        return hasRefusal;
    }

    /** Returns about how many bytes of heap a consent takes. */
    long heldBytes() {
        long bytes = OVERHEAD;
        for (FieldEdit edit : request) {
            bytes += edit.heldBytes();
        }
        for (FieldEdit edit : response) {
            bytes += edit.heldBytes();
        }
        return bytes + (long) removed.size() * FieldEdit.OVERHEAD;
    }

    List<FieldEdit> requestEdits() {
        return request;
    }

    List<FieldName> removed() {
        return removed;
    }

    List<FieldEdit> responseEdits() {
        return response;
    }

    /** Returns the status for a client that is refused. */
    int status() {
        return (int) status;
    }

    List<FieldEdit> refusalFields() {
        return refusal;
    }

    /** Returns the body for a client that is refused: a part of the answer, as long as that is not released. */
    ByteBuf body() {
        return body;
    }
}
