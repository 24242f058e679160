package dev.gateway.filter.headers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeaderModifiersTest {
    private final FakeContext context = FakeContext.from("192.0.2.1");

    private static FieldEdits.Field field(String name, String value) {
        return FieldEdits.Field.of(name, value);
    }

    @Test
    void aHeaderModifierRemovesSetsAndAdds() {
        FieldEdits edits = new FieldEdits(
                List.of(field("X-Set", "new"), field("X-Fresh", "1")),
                List.of(field("X-Add", "b")),
                List.of(FieldName.of("x-remove")));
        String[] lines = {"X-Remove: 1", "x-set: old", "X-Add: a", "X-SET: older", "X-Stay: 1"};
        String expected = "X-Add: a\nX-Stay: 1\nX-Set: new\nX-Fresh: 1\nX-Add: b\n";
        RequestHead request = Heads.get("a", "/", lines);
        ResponseHead response = new ResponseHead(200, null, Heads.fields(lines), 0);

        assertThat(new RequestHeaderModifier(edits).onRequest(request, context)).isSameAs(Verdict.PROCEED);
        new ResponseHeaderModifier(edits).onResponse(response, context);

        assertThat(request.fields()).hasToString(expected);
        assertThat(response.fields()).hasToString(expected);
    }

    /** Clients tell names apart that servers behind CGI cannot. */
    @Test
    void whatLooksLikeARemovedOrSetFieldGoesFromRequestsOnly() {
        FieldEdits edits = new FieldEdits(
                List.of(field("X-User", "ann"), field("X_Tier", "1")),
                List.of(field("X-Add", "b")),
                List.of(FieldName.of("X-Debug"), FieldName.of("X_Plain")));
        String[] lines = {
            "X_User: forged", "X.Debug: 1", "X-Tier: forged", "X_Add: a", "X_Userz: 1", "X-Plain: 1", "X.Plain: 2"
        };
        String trailing = "X_Add: a\nX_Userz: 1\nX-Plain: 1\n";
        RequestHead request = Heads.get("a", "/", lines);
        RequestHeaderModifier filter = new RequestHeaderModifier(edits);
        filter.onRequest(request, context);
        assertThat(request.fields()).hasToString(trailing + "X-User: ann\nX_Tier: 1\nX-Add: b\n");

        Fields trailers = Heads.fields(lines);
        filter.onRequestTrailers(trailers, context);
        assertThat(trailers).hasToString(trailing);

        ResponseHead response = new ResponseHead(200, null, Heads.fields(lines), 0);
        new ResponseHeaderModifier(edits).onResponse(response, context);
        assertThat(response.fields().toString()).contains(lines);
    }

    @Test
    void settingHostChangesWhatTheUpstreamIsTold() {
        RequestHead head = Heads.get("a", "/", "Host: a");

        new RequestHeaderModifier(new FieldEdits(List.of(field("host", "b:81")), List.of(), List.of()))
                .onRequest(head, context);

        assertThatObject(head.authority()).isEqualTo(new AsciiString("b:81"));
        assertThat(head.fields().contains(FieldName.HOST)).isFalse();
    }

    @Test
    void hostIsNeitherAddedNorRemovedNorSetToNonsense() {
        FieldEdits.Field host = field("Host", "a");
        assertThatThrownBy(() -> new RequestHeaderModifier(new FieldEdits(List.of(), List.of(host), List.of())))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(
                        () -> new RequestHeaderModifier(new FieldEdits(List.of(), List.of(), List.of(FieldName.HOST))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() ->
                        new RequestHeaderModifier(new FieldEdits(List.of(field("Host", "a b")), List.of(), List.of())))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
