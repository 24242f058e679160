package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ListenerConfig.ServerHeader.Transformation;
import dev.gateway.exchange.settings.ServerHeader;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which {@code Server} a client sees. */
class ServerHeaderTest extends ExchangeRig {
    private List<String> servers() {
        Fields fields = client.heads.get(0).fields();
        List<String> found = new ArrayList<>();
        for (int i = fields.find(FieldName.SERVER, 0); i >= 0; i = fields.find(FieldName.SERVER, i + 1)) {
            found.add(fields.value(i).toString());
        }
        return found;
    }

    private void forward(@Nullable String server) {
        get();
        opener.last().succeed();
        ResponseHead head = response(200);
        if (server != null) {
            head.fields().add(FieldName.SERVER, server);
        }
        opener.last().events.onHead(head, true);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "PASS_THROUGH, origin/1.2, origin/1.2", "PASS_THROUGH, -, -",
                "APPEND_IF_ABSENT, origin/1.2, origin/1.2", "APPEND_IF_ABSENT, -, edge",
                "OVERWRITE, origin/1.2, edge", "OVERWRITE, -, edge",
                "REMOVE, origin/1.2, -", "REMOVE, -, -"
            })
    void thatOfAnUpstreamBecomesWhatTheListenerWants(
            Transformation transformation, @Nullable String sent, @Nullable String seen) {
        settings.serverHeader = new ServerHeader(transformation, new AsciiString("edge"));
        forward(sent);
        assertThat(servers()).isEqualTo(seen == null ? List.of() : List.of(seen));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"PASS_THROUGH, edge", "APPEND_IF_ABSENT, edge", "OVERWRITE, edge", "REMOVE, -"})
    void theGatewaysOwnResponsesHaveItsNameUnlessThereIsNone(Transformation transformation, @Nullable String seen) {
        settings.serverHeader = new ServerHeader(transformation, new AsciiString("edge"));
        handler().onRequest(client, head("GET", "/nowhere"), true);
        assertThat(client.heads.get(0).status()).isEqualTo(404);
        assertThat(servers()).isEqualTo(seen == null ? List.of() : List.of(seen));
    }

    @Test
    void byDefaultOnlyTheGatewaysOwnResponsesHaveItsName() {
        handler().onRequest(client, head("GET", "/nowhere"), true);
        assertThat(servers()).containsExactly("gateway");
    }
}
