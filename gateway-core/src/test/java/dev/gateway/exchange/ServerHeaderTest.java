package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ListenerConfig.ServerHeader.Transformation;
import dev.gateway.exchange.settings.ServerHeader;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
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

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "PASS_THROUGH, origin/1.2, origin/1.2", "PASS_THROUGH, -, -",
                "APPEND_IF_ABSENT, origin/1.2, origin/1.2", "APPEND_IF_ABSENT, -, -",
                "OVERWRITE, origin/1.2, edge", "OVERWRITE, -, -",
                "REMOVE, origin/1.2, -", "REMOVE, -, -"
            })
    void anInterimResponseDoesNotTellEitherButGetsNoName(
            Transformation transformation, @Nullable String sent, @Nullable String seen) {
        settings.serverHeader = new ServerHeader(transformation, new AsciiString("edge"));
        get();
        opener.last().succeed();
        ResponseHead hints = response(103);
        if (sent != null) {
            hints.fields().add(FieldName.SERVER, sent);
        }
        opener.last().events.onHead(hints, false);
        opener.last().events.onHead(response(204), true);
        assertThat(client.heads.get(0).status()).isEqualTo(103);
        assertThat(servers()).isEqualTo(seen == null ? List.of() : List.of(seen));
    }

    @ParameterizedTest
    @CsvSource({"PASS_THROUGH, true", "APPEND_IF_ABSENT, false", "OVERWRITE, false", "REMOVE, false"})
    void trailersDoNotTellEither(Transformation transformation, boolean told) {
        settings.serverHeader = new ServerHeader(transformation, new AsciiString("edge"));
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        Fields trailers = new Fields();
        trailers.add(FieldName.SERVER, "origin/1.2");
        opener.last().events.onTrailers(trailers);
        assertThat(trailers.contains(FieldName.SERVER)).isEqualTo(told);
    }

    @Test
    void thatOfADestinationThatTheClientHasChosenStays() {
        settings.serverHeader = new ServerHeader(Transformation.OVERWRITE, new AsciiString("edge"));
        offerTunnels();
        RequestHead head = new RequestHead(
                Method.GET,
                Scheme.HTTP,
                new AsciiString("api.example.com"),
                new AsciiString("/"),
                new Fields(),
                RequestHead.UNKNOWN_LENGTH);
        head.setAbsoluteForm(true);
        handler().onRequest(client, head, true);
        opener.last().succeed();
        for (int status : new int[] {103, 200}) {
            ResponseHead response = response(status);
            response.fields().add(FieldName.SERVER, "origin/1.2");
            opener.last().events.onHead(response, status == 200);
        }
        assertThat(client.heads).hasSize(2).allSatisfy(each -> assertThat(
                        String.valueOf(each.fields().first(FieldName.SERVER)))
                .isEqualTo("origin/1.2"));
    }

    @Test
    void byDefaultOnlyTheGatewaysOwnResponsesHaveItsName() {
        handler().onRequest(client, head("GET", "/nowhere"), true);
        assertThat(servers()).containsExactly("gateway");
    }
}
