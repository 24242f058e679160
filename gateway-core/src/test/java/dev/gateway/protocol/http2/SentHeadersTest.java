package dev.gateway.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SentHeadersTest {
    private final SentHeaders sent = new SentHeaders();

    private List<String> response(int status, long length) {
        Fields fields = new Fields();
        fields.add(FieldName.CONTENT_LENGTH, AsciiString.of(Long.toString(length)));
        fields.add(FieldName.VARY, AsciiString.of("origin"));
        List<String> found = new ArrayList<>();
        sent.response(new ResponseHead(status, null, fields, length))
                .forEach(field -> found.add(field.getKey() + "=" + field.getValue()));
        return found;
    }

    @ParameterizedTest
    @ValueSource(ints = {103, 204})
    void aResponseThatCanHaveNoBodyHasNoLength(int status) {
        assertThat(response(status, 2)).containsExactly(":status=" + status, "vary=origin");
        assertThat(response(status, 0)).containsExactly(":status=" + status, "vary=origin");
    }

    @Test
    void aResponseThatNeedNotHaveItsBodyKeepsItsLength() {
        response(204, 2);
        assertThat(response(304, 2)).containsExactly(":status=304", "content-length=2", "vary=origin");
    }
}
