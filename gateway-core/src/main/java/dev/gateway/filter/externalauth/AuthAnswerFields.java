package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.message.FieldName;
import dev.gateway.message.FieldText;
import dev.gateway.message.Fields;
import dev.gateway.message.OddNames;
import dev.gateway.message.SharedCaches;
import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which fields of an auth server's consent go where. Immutable. */
final class AuthAnswerFields {
    private static final int MOST_IDENTITY_BYTES = 256;

    private final FieldName[] toUpstream;
    private final FieldName[] toClient;
    private final @Nullable FieldName identity;

    /**
     * Makes the rules.
     *
     * @param toUpstream names of fields that the request gets; nobody else may send them
     * @param toClient names of fields that the response gets
     * @param identity name of the field that tells who the client is; null if none does
     */
    public AuthAnswerFields(List<FieldName> toUpstream, List<FieldName> toClient, @Nullable FieldName identity) {
        this.toUpstream = toUpstream.toArray(FieldName[]::new);
        this.toClient = toClient.toArray(FieldName[]::new);
        this.identity = identity;
    }

    /** Takes out of a request, or its trailers, what only the auth server may say. */
    void remove(Fields request) {
        for (FieldName name : toUpstream) {
            OddNames.removeAlike(request, name);
        }
        if (identity != null) {
            OddNames.removeAlike(request, identity);
        }
    }

    /** Gives a request the fields of an answer, and the exchange the identity. */
    void apply(Fields answer, Fields request, FilterContext context) {
        for (FieldName name : toUpstream) {
            QuestionFields.copy(answer, name, request);
        }
        AsciiString who = identity == null ? null : answer.first(identity);
        if (who != null) {
            identify(who, context);
        }
    }

    /** Says who the client is, if that is no endless text, and in UTF-8: other bytes of two names could look the same. */
    static void identify(AsciiString who, FilterContext context) {
        String name = who.length() > MOST_IDENTITY_BYTES
                ? null
                : FieldText.decode(who.array(), who.arrayOffset(), who.length());
        if (name != null && Identity.isExact(name)) {
            context.setIdentity(new Identity(name, Set.of()));
        }
    }

    /** Returns the fields of an answer that the response will get; null if there are none. */
    @Nullable
    Fields forClient(Fields answer) {
        Fields found = null;
        for (FieldName name : toClient) {
            if (answer.contains(name)) {
                found = found == null ? new Fields() : found;
                QuestionFields.copy(answer, name, found);
            }
        }
        return found;
    }

    /** Gives a response the fields that were found for it: in place of its own, but cookies besides its own. */
    void give(Fields found, Fields response) {
        for (FieldName name : toClient) {
            if (found.contains(name)) {
                if (!name.equals(FieldName.SET_COOKIE)) {
                    response.remove(name);
                }
                QuestionFields.copy(found, name, response);
            }
        }
        if (found.contains(FieldName.SET_COOKIE)) {
            SharedCaches.refuse(response); // they would give the login of one client to others
        }
    }
}
