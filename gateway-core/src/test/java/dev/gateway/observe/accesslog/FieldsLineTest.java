package dev.gateway.observe.accesslog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.observe.AccessLogConfig.Format;
import dev.gateway.config.observe.AccessLogConfig.Lines;
import dev.gateway.config.observe.AccessLogTemplate;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.LineBuffer;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.Records;
import dev.gateway.observe.accesslog.LogLine.Moment;
import dev.gateway.observe.trace.TraceValues;
import dev.gateway.observe.trace.Traces;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Lines of the access log whose fields the configuration has chosen. */
class FieldsLineTest {
    private static GatewayConfig config(String fields) {
        LoadResult result = ConfigLoader.parse(
                """
                listeners: [{name: web, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                accessLog: {requestHeaders: [Accept], redact: {headers: [X-Secret]}, fields: %s}
                """
                        .formatted(fields));
        assertThat(result.problems()).isEmpty();
        return ((LoadResult.Valid) result).config();
    }

    private static FieldsLine lines(String fields, LineBuffer buffer) {
        GatewayConfig config = config(fields);
        Lines lines = config.accessLog().lines();
        return new FieldsLine(
                lines, Objects.requireNonNull(lines.fields()), buffer, new Redaction(LogAssembly.hidden(config)));
    }

    private static String line(String fields, ExchangeRecord record, Moment moment) {
        LineBuffer buffer = new LineBuffer();
        lines(fields, buffer).write(record, moment);
        return buffer.toString();
    }

    private static String line(String fields, ExchangeRecord record) {
        return line(fields, record, Moment.CLOSE);
    }

    private static ExchangeRecord record() {
        ExchangeRecord record = Records.record("/a?token=t1&b=c", 502, Cause.CONNECT_FAILED);
        Fields request = new Fields();
        request.add(FieldName.of("X-Tier"), "go\"ld");
        request.add(FieldName.of("X-Secret"), "s1");
        request.add(FieldName.AUTHORIZATION, "Bearer s2");
        request.add(FieldName.COOKIE, "s=s3");
        request.add(FieldName.of("Accept"), "*/*");
        record.fields = request;
        Fields response = new Fields();
        response.add(FieldName.of("X-Cache"), "HIT");
        record.responseFields = response;
        return record;
    }

    @Test
    void withoutAChangeALineIsThatOfTheDefault() {
        ExchangeRecord tunnel = Records.tunnel(Kind.TUNNEL, 200, null);
        for (ExchangeRecord record : List.of(record(), tunnel)) {
            LineBuffer buffer = new LineBuffer();
            new JsonLine(
                            new Lines(Format.JSON, null, List.of("Accept"), List.of(), null),
                            buffer,
                            new Redaction(LogAssembly.hidden(config("{}"))))
                    .write(record, Moment.OPEN);
            assertThat(line("{}", record, Moment.OPEN)).isEqualTo(buffer.toString());
        }
    }

    @Test
    void aLineHasOnlyWhatIsKept() {
        assertThat(line("{keep: [status, cause, time]}", record()))
                .isEqualTo("{\"time\":\"2023-11-14T22:13:20.123Z\",\"status\":502,\"cause\":\"connect_failed\","
                        + "\"requestHeaders\":{\"accept\":\"*/*\"}}\n");
    }

    @Test
    void aLineLacksWhatIsRemovedAndHasOtherNames() {
        String line = line(
                "{remove: [time, peer], rename: [{name: client, to: client.address}, {name: route, to: peer}]}",
                record());
        assertThat(line)
                .startsWith("{\"listener\":\"web\",\"client.address\":\"192.0.2.7\",\"method\":\"GET\"")
                .contains("\"peer\":\"shop\",\"upstream\":\"app\"")
                .doesNotContain("\"time\"", "\"client\"", "\"route\"");
    }

    @Test
    void twoFieldsCanChangeTheirNames() {
        assertThat(line(
                        "{keep: [client, peer], rename: [{name: client, to: peer}, {name: peer, to: client}]}",
                        record()))
                .startsWith("{\"peer\":\"192.0.2.7\",\"client\":\"192.0.2.7\"");
    }

    @Test
    void aFieldMayBeAHeaderOrAnyOtherThatATemplateKnows() {
        String fields =
                """
                {keep: [], add: [
                  {name: tier, value: '{requestHeader:X-Tier}'}, {name: cache, value: '{responseHeader:X-Cache}'},
                  {name: code, value: '{status}'}, {name: none, value: '{serverName}'},
                  {name: ms, value: '{epochMillis}'}, {name: '@line', value: '{requestLine}'},
                  {name: missing, value: '{requestHeader:X-None}'}, {name: stage, value: prod}]}
                """;
        assertThat(line(fields, record()))
                .isEqualTo(
                        "{\"requestHeaders\":{\"accept\":\"*/*\"},\"tier\":\"go\\\"ld\",\"cache\":\"HIT\",\"code\":502,\"ms\":1700000000123,\"@line\":\"GET"
                                + " /a?token=***&b=c HTTP/1.1\",\"stage\":\"prod\"}\n");
    }

    @Test
    void aValueMayBePutTogetherAndIsOneString() {
        String fields =
                """
                {keep: [status], add: [
                  {name: url, value: '{scheme}://{authority}{path}'}, {name: who, value: '"{identity}" \\{{tier}}={requestHeader:X-Tier}'},
                  {name: where, value: '{route}/{upstream} {status} {durationMicros} {tried} {time}'},
                  {name: nothing, value: '{identity}{serverName}{responseHeader:X-None}'}]}
                """;
        ExchangeRecord record = record();
        record.fields = new Fields();
        record.fields.add(FieldName.of("X-Tier"), "a\"b\\\n");
        record.tryAgain(503, null);
        record.endpoint = new NamedEndpoint("last.test:9000");
        record.tryAgain(0, Failure.of(Cause.CONNECT_FAILED, "refused"));
        assertThat(line(fields, record))
                .isEqualTo("{\"status\":502,\"url\":\"http://shop.example.com/a?token=***&b=c\","
                        + "\"who\":\"\\\"\\\" \\\\{tier}=a\\\"b\\\\\\u000a\","
                        + "\"where\":\"shop/app 502 3000 app.test:9000=503,last.test:9000=connect_failed"
                        + " 2023-11-14T22:13:20.123Z\"}\n");
    }

    @Test
    void credentialsAreHiddenInWhateverFieldTheyAre() {
        String fields =
                """
                {keep: [], add: [
                  {name: a, value: '{requestHeader:Authorization}'}, {name: b, value: 'c={requestHeader:Cookie}'},
                  {name: c, value: '{requestHeader:X-Secret}'}, {name: d, value: '{path}'}]}
                """;
        assertThat(line(fields, record()))
                .isEqualTo("{\"requestHeaders\":{\"accept\":\"*/*\"},\"a\":\"***\",\"b\":\"c=***\",\"c\":\"***\","
                        + "\"d\":\"/a?token=***&b=c\"}\n");
    }

    @Test
    void headersThatLinesDoNotHaveTakeNoName() {
        ExchangeRecord record = Records.record("/", 200, null);
        assertThat(line("{keep: [status], add: [{name: responseHeaders, value: x}]}", record))
                .isEqualTo("{\"status\":200,\"responseHeaders\":\"x\"}\n");
    }

    @Test
    void aLineMayHaveHeadersOnly() {
        assertThat(line("{keep: []}", record())).isEqualTo("{\"requestHeaders\":{\"accept\":\"*/*\"}}\n");
    }

    @Test
    void aLineThatFailsLeavesTheNextOnesAsTheyAre() {
        LineBuffer buffer = new LineBuffer();
        FieldsLine lines = lines("{keep: [status], add: [{name: a, value: 'x{tried}'}]}", buffer);
        ExchangeRecord bad = Records.record("/", 200, null);
        bad.tried = Collections.singletonList(null);
        assertThatThrownBy(() -> lines.write(bad, Moment.CLOSE)).isInstanceOf(NullPointerException.class);
        int start = buffer.length();
        lines.write(Records.record("/", 204, null), Moment.CLOSE);
        assertThat(buffer.toString().substring(start)).isEqualTo("{\"status\":204,\"a\":\"x\"}\n");
    }

    @Test
    void aLineWithoutAnyValueIsAnEmptyObject() {
        ExchangeRecord record = Records.record("/", 200, null);
        record.fields = null;
        assertThat(line("{keep: [cause]}", record)).isEqualTo("{}\n");
    }

    @Test
    void theFieldsThatLinesHaveAreThoseThatCanBeLeftOut() {
        TreeMap<String, LogField> written = new TreeMap<>();
        LineBuffer buffer = new LineBuffer();
        JsonLine line = new JsonLine(Lines.of(Format.JSON), buffer, new Redaction(Redaction.Hidden.NOTHING)) {
            @Override
            void time(ExchangeRecord exchange) {
                put(LogField.TIME, exchange);
            }

            @Override
            void text(LogField field, ExchangeRecord exchange) {
                put(field, exchange);
            }

            @Override
            void number(LogField field, ExchangeRecord exchange) {
                put(field, exchange);
            }

            @Override
            void put(LogField field, ExchangeRecord exchange) {
                written.put(field.text(), field);
            }
        };
        line.write(recordOfEverything(), Moment.CLOSE);
        assertThat(AccessLogTemplate.IN_JSON).containsExactlyInAnyOrderElementsOf(written.keySet());
    }

    private static ExchangeRecord recordOfEverything() {
        TlsInfo tls = new TlsInfo("TLSv1.3", "a cipher", null, null, false, 1);
        ExchangeRecord record = new ExchangeRecord(new ConnectionInfo(
                0, "web", HttpVersion.HTTP_1_1, new InetSocketAddress("192.0.2.7", 5555), null, tls));
        record.kind = Kind.TUNNEL;
        record.cause = Cause.CONNECT_FAILED;
        record.hop = new DialedPeer("192.0.2.8:80", "");
        record.tried = List.of();
        record.trace = new Traces().begin(null, false, TraceValues.of(false, List.of(), false, 0));
        return record;
    }
}
