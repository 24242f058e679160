package dev.gateway.filter.fields;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.RequestWord;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Heads;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldEditsTest {
    private static FieldEdits.Field field(String name, String value) {
        return FieldEdits.Field.of(name, value);
    }

    @Test
    void valuesSayWhatIsKnownOfTheRequest() {
        FieldEdits edits = new FieldEdits(
                List.of(field("X-Who", "{identity}"), field("X-Id", "<{requestId}> of {client}")),
                List.of(
                        field("X-None", " {identity} "),
                        field("Report-To", "{\"a\":{\"client\":1},\"b\":\"{client}\"}")),
                List.of());
        FakeContext context = FakeContext.from("192.0.2.1");
        context.words.put(RequestWord.CLIENT, "192.0.2.1");
        context.words.put(RequestWord.REQUEST_ID, "r-1");
        Fields fields = Heads.fields("X-Who: forged", "X-Id: forged");
        edits.apply(fields, context);
        assertThat(fields)
                .hasToString("X-Id: <r-1> of 192.0.2.1\nReport-To: {\"a\":{\"client\":1},\"b\":\"192.0.2.1\"}\n");
    }

    private static @Nullable AsciiString of(String template, String identity) {
        FakeContext context = FakeContext.from("192.0.2.1");
        context.words.put(RequestWord.IDENTITY, identity);
        Fields fields = Heads.fields("X-User: forged");
        new FieldEdits(List.of(field("X-User", template)), List.of(), List.of()).apply(fields, context);
        return fields.first(FieldName.of("X-User"));
    }

    /** Else two people would be one for the upstream. */
    @ParameterizedTest
    @ValueSource(strings = {"alice", "a  b", "m\u00fcller", "\u674e\u96f7", "\u0430dmin", "\ud83d\ude00", "a,b", "?"})
    void aWordIsWrittenAsItIs(String identity) {
        assertThat(Objects.requireNonNull(of("{identity}", identity)).toByteArray())
                .isEqualTo(identity.getBytes(StandardCharsets.UTF_8));
        assertThat(Objects.requireNonNull(of("<{identity}> ", identity)).toByteArray())
                .isEqualTo(("<" + identity + ">").getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {" alice", "alice ", "alice\t", "a\nb", "a\u0000", "a\u007f", "\ud83d", "a\ude00b", " ", ""})
    void aWordThatNoFieldCanSayLeavesTheFieldOut(String identity) {
        assertThat((Object) of("{identity}", identity)).isNull();
        if (!identity.isEmpty()) {
            assertThat((Object) of("<{identity}>", identity)).isNull();
        }
    }

    @Test
    void whatTheConfigurationSaysIsUtf8() {
        assertThat(Objects.requireNonNull(of("\u00fc {identity} \u20ac", "m\u00fcller"))
                        .toByteArray())
                .isEqualTo("\u00fc m\u00fcller \u20ac".getBytes(StandardCharsets.UTF_8));
        assertThat(Objects.requireNonNull(of("M\u00fcller \ud83d\ude00", "")).toByteArray())
                .isEqualTo("M\u00fcller \ud83d\ude00".getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{", "}", "{Client}", "{ client }", "{nobody}", "{{\"max_age\":1}", "{client"})
    void otherBracesStandForThemselves(String value) {
        Fields fields = new Fields();
        new FieldEdits(List.of(field("X-A", value)), List.of(), List.of()).apply(fields, FakeContext.from("192.0.2.1"));
        assertThat(fields).hasToString("X-A: " + value + "\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length", "transfer-encoding", "Connection", "Upgrade", "TE", "a b", ""})
    void fieldsThatFrameTheMessageAreNotTheOperatorsToWrite(String name) {
        assertThatThrownBy(() -> new FieldEdits(List.of(field(name, "1")), List.of(), List.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\nb: c", "a\nb", "\u0000", "\u007f"})
    void aValueCannotBreakTheMessage(String value) {
        assertThatThrownBy(() -> field("X-A", "x" + value + "x")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void editsLeaveFieldsTheyDoNotNameAlone() {
        Fields fields = Heads.fields("A: 1", "B: 2");
        FieldEdits.NONE.apply(fields, FakeContext.from("192.0.2.1"));

        assertThat(fields).hasToString("A: 1\nB: 2\n");
    }
}
