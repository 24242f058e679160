package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProxyFieldsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Forwarded",
                "X-Forwarded-For",
                "x-forwarded-proto",
                "X-FORWARDED-HOST",
                "X-Forwarded-Port",
                "X-Forwarded-Prefix",
                "X-Forwarded-Ssl",
                "X-Forwarded-Client-Cert",
                "X-Real-IP",
                "X_Forwarded_For",
                "X-Forwarded_For",
                "x.forwarded.for",
                "X~Real~IP",
                "x_real_ip",
                "X_Request_Id",
                "Client-Cert",
                "client-cert",
                "Client_Cert",
                "CLIENT.CERT",
                "Client-Cert-Chain",
                "Client_Cert_Chain",
                "client-cert_chain"
            })
    void whatTellsOfTheClientIsTakenOut(String name) {
        for (boolean traces : List.of(true, false)) {
            Fields fields = Heads.fields("Accept: a", name + ": 1", "X-Other: b", name + ": 2");
            assertThat(traces ? ProxyFields.removeAll(fields) : ProxyFields.removeButTraces(fields))
                    .isTrue();
            assertThat(fields.toString()).isEqualTo("Accept: a\nX-Other: b\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Via", "Forwarded", "x-forwarded-for", "X-Forwarded-Prefix", "X_Real_IP"})
    void whatAProxyHasPassedOnSaysSo(String name) {
        assertThat((CharSequence) ProxyFields.hop(Heads.fields("Accept: a", name + ": 1", "X-Other: b")))
                .hasToString(name);
    }

    @Test
    void whatAClientMayWellSendSaysNothingOfAProxy() {
        assertThat((CharSequence) ProxyFields.hop(Heads.fields(
                        "Accept: a", "X-Request-Id: 1", "X-Request_Id: 1", "traceparent: 1", "X-Real-IPs: 1", "X: 1")))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"traceparent", "Tracestate", "b3", "B3", "X-B3-TraceId", "x-b3-sampled", "X_B3_Flags", "x-b3-new"
            })
    void whatTellsOfTracesIsTakenOutUnlessAnyonesWordCounts(String name) {
        Fields fields = Heads.fields("Accept: a", name + ": 1", "X-Other: b");
        assertThat(ProxyFields.removeButTraces(fields)).isFalse();
        assertThat(fields.size()).isEqualTo(3);
        assertThat(ProxyFields.removeAll(fields)).isTrue();
        assertThat(fields.toString()).isEqualTo("Accept: a\nX-Other: b\n");
    }

    @Test
    void certificatesAreTakenOutAlone() {
        Fields fields = Heads.fields(
                "Client-Cert: :AA==:",
                "X-Forwarded-For: a",
                "Client_Cert: b",
                "Client-Certs: c",
                "Client-Cert-Chain: :AA==:",
                "client.cert.chain: d",
                "Client-Cert-Chains: e",
                "Client: f");
        assertThat(ProxyFields.removeCertificates(fields)).isTrue();
        assertThat(fields.toString())
                .isEqualTo("X-Forwarded-For: a\nClient-Certs: c\nClient-Cert-Chains: e\nClient: f\n");
        assertThat(ProxyFields.removeCertificates(fields)).isFalse();
    }

    @Test
    void allElseStays() {
        Fields fields = Heads.fields(
                "Via: a",
                "X-Request-Id: b",
                "X-Forwarded: c",
                "X-Real-IPs: d",
                "X-Reality: e",
                "b33: f",
                "Client-Certs: c",
                "Client-Cert-Chai: d",
                "X-B: g",
                "baggage: h",
                "Sec-Fetch-Mode: i",
                "X_User: j");
        String before = fields.toString();
        assertThat(ProxyFields.removeAll(fields)).isFalse();
        assertThat(fields.toString()).isEqualTo(before);
    }
}
