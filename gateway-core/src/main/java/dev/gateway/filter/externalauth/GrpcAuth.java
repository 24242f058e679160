package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.Method;
import dev.gateway.message.OddNames;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import dev.gateway.message.SharedCaches;
import dev.gateway.message.grpc.GrpcCall;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Asks by Envoy's gRPC ({@code envoy.service.auth.v3.Authorization/Check}). A failed call, and an answer that cannot be
 * read or carried out, decide nothing. Immutable, safe from any thread.
 */
final class GrpcAuth implements AuthProtocol {
    private static final String SERVICE = "envoy.service.auth.v3.Authorization";
    private static final AsciiString PATH = new AsciiString("/" + SERVICE + "/Check");
    private static final AsciiString TEXT = new AsciiString("text/plain");
    private static final Set<Integer> WITHOUT_BODY = Set.of(204, 205, 304);

    private final CheckRequest about;
    private final Answers answers;

    /**
     * What the server is asked.
     *
     * @param sent names of fields that go along, empty for all
     * @param own names of fields that do not, because the gateway itself writes them or they are about one connection
     * @param extensions what the configuration adds
     * @param clock milliseconds since 1970
     */
    public record Question(
            List<FieldName> sent, Set<FieldName> own, Map<String, String> extensions, LongSupplier clock) {}

    /**
     * What answers may do.
     *
     * @param edited names of fields that the request gets from nobody but the server, and that it may set; empty if it
     *     may set all that are not kept
     * @param identity name of the field that tells who the client is; null if none does
     * @param kept names of fields of requests that the server may not change
     * @param framing names of fields of responses that are not taken from it
     */
    public record Answers(
            List<FieldName> edited, @Nullable FieldName identity, Set<FieldName> kept, Set<FieldName> framing) {}

    /** Makes the protocol. */
    public GrpcAuth(Question question, Answers answers) {
        this.about = new CheckRequest(
                question.sent,
                question.own.stream().map(FieldName::lower).collect(Collectors.toUnmodifiableSet()),
                question.extensions,
                question.clock);
        this.answers = answers;
    }

    @Override
    public UpstreamCall.Request question(RequestHead head, boolean tls, FilterContext context, AuthPolicy policy) {
        Fields fields = new Fields();
        GrpcCall.addFields(fields, policy.timeoutMillis());
        for (FieldName name : QuestionFields.ALWAYS) {
            QuestionFields.copy(head.fields(), name, fields);
        }
        QuestionFields.setRequestId(context, fields);
        RequestHead call = new RequestHead(
                Method.POST, Scheme.of(tls), AsciiString.EMPTY_STRING, PATH, fields, RequestHead.UNKNOWN_LENGTH);
        return new UpstreamCall.Request(
                call, about.about(head, context), policy.timeoutMillis(), policy.maxResponseBytes(), true);
    }

    @Override
    public void remove(Fields request) {
        for (FieldName name : answers.edited) {
            OddNames.removeAlike(request, name);
        }
        if (answers.identity != null) {
            OddNames.removeAlike(request, answers.identity);
        }
    }

    @Override
    public AuthDecision decision(UpstreamCall.Answer answer, AuthPolicy policy) {
        try {
            if (!answer.whole()) {
                return new AuthDecision.None(
                        "answered with more than " + policy.maxResponseBytes() + " bytes",
                        mayRefuse(answer.head().status()));
            }
            String failure = GrpcCall.failure(answer.head(), answer.trailers(), SERVICE);
            return failure != null
                    ? new AuthDecision.None(failure, false)
                    : decision(CheckResponse.read(answer.body()));
        } finally {
            answer.body().release();
        }
    }

    private AuthDecision decision(CheckResponse read) {
        String problem = read.problem();
        if (problem != null) {
            return new AuthDecision.None(problem, read.isRefusal());
        } else if (!read.isRefusal()) {
            return consent(read);
        }
        return read.hasAnswer() ? refusal(read) : new AuthDecision.Refused("answered " + name(read.code()));
    }

    private static String name(long code) {
        return code == 7 ? "PERMISSION_DENIED" : code == 16 ? "UNAUTHENTICATED" : "with the status " + code;
    }

    private AuthDecision refusal(CheckResponse read) {
        Fields fields = new Fields();
        for (FieldEdit edit : ofResponse(read.refusalFields())) {
            edit.apply(fields);
        }
        HopByHop.stripResponse(read.status(), fields);
        // The answer stays charged as long as this part of it is held.
        ByteBuf body = WITHOUT_BODY.contains(read.status())
                ? Unpooled.EMPTY_BUFFER
                : read.body().retain();
        if (body.isReadable() && !fields.contains(FieldName.CONTENT_TYPE)) {
            fields.add(FieldName.CONTENT_TYPE, TEXT);
        }
        return new AuthDecision.Answered(new ResponseHead(read.status(), null, fields, body.readableBytes()), body);
    }

    private AuthDecision consent(CheckResponse read) {
        for (FieldEdit edit : read.requestEdits()) {
            if (answers.kept.contains(edit.name())) {
                return keeps(edit.name());
            } else if (edit.name().equals(answers.identity) && !edit.isExact()) {
                return new AuthDecision.None("says who the client is with blanks at the ends", false);
            }
        }
        for (FieldName name : read.removed()) {
            if (answers.kept.contains(name)) {
                return keeps(name);
            }
        }
        return new Consent(read, ofResponse(read.responseEdits()), answers);
    }

    private static AuthDecision keeps(FieldName name) {
        return new AuthDecision.None("edits " + name.canonical() + ", which the gateway itself writes", false);
    }

    private List<FieldEdit> ofResponse(List<FieldEdit> edits) {
        return edits.stream()
                .filter(edit -> !answers.framing.contains(edit.name()))
                .toList();
    }

    /** What a server gives a request that it allows, and later its response. */
    private record Consent(CheckResponse read, List<FieldEdit> response, Answers answers)
            implements AuthDecision.Allowed, AuthDecision.Gift {
        @Override
        public boolean apply(RequestHead head, FilterContext context) {
            if (!context.tryHold(read.heldBytes(), true)) {
                return false;
            }
            for (FieldEdit edit : read.requestEdits()) {
                if (edit.name().equals(answers.identity)) {
                    AuthAnswerFields.identify(edit.value(), context);
                }
                if (isTaken(edit.name())) {
                    edit.applyToRequest(head.fields());
                }
            }
            for (FieldName name : read.removed()) {
                OddNames.removeAlike(head.fields(), name);
            }
            context.keep(this);
            return true;
        }

        private boolean isTaken(FieldName name) {
            return answers.edited.isEmpty() || answers.edited.contains(name);
        }

        @Override
        public void give(Fields to) {
            boolean cookie = false;
            for (FieldEdit edit : response) {
                cookie |= edit.apply(to) && edit.name().equals(FieldName.SET_COOKIE);
            }
            if (cookie) {
                SharedCaches.refuse(to); // they would give the login of one client to others
            }
        }

        @Override
        public void clean(Fields trailers) {
            for (FieldEdit edit : read.requestEdits()) {
                if (isTaken(edit.name())) {
                    OddNames.removeAlike(trailers, edit.name());
                }
            }
            for (FieldName name : read.removed()) {
                OddNames.removeAlike(trailers, name);
            }
        }
    }

    /** A call that got as far as its head may have got a refusal, too. */
    @Override
    public boolean mayRefuse(int status) {
        return status == 200;
    }
}
