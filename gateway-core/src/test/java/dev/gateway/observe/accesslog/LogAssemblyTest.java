package dev.gateway.observe.accesslog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.message.FieldName;
import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;

/** What the access log, spans and the page of failures hide. */
class LogAssemblyTest {
    private static GatewayConfig config(String filter, String redact) {
        LoadResult result = ConfigLoader.parse(
                """
                listeners: [{name: web, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [%s, {type: DirectResponse, directResponse: {}}]}]}]
                accessLog: {redact: %s}
                """
                        .formatted(filter, redact));
        assertThat(result).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    private static String jwt(String place) {
        return "{type: JWT, jwt: {providers: [{issuer: 'https://a.example', audiences: [a], jwksUrl:"
                + " 'https://a.example/k'}], "
                + place + "}}";
    }

    private static String url(GatewayConfig config, String url) {
        return new Redaction(LogAssembly.hidden(config))
                .url(new AsciiString(url))
                .toString();
    }

    @Test
    void theQueryParameterOfATokenIsHiddenWithoutBeingListed() {
        for (String redact : new String[] {"{}", "{queryKeys: []}", "{queryKeys: [other]}"}) {
            GatewayConfig config = config(jwt("queryParameter: t"), redact);
            assertThat(url(config, "/ws?x=1&t=secret")).isEqualTo("/ws?x=1&t=***");
        }
    }

    @Test
    void listedParametersAreStillHidden() {
        GatewayConfig config = config(jwt("queryParameter: t"), "{queryKeys: [other]}");
        assertThat(url(config, "/ws?other=1&t=2&token=3")).isEqualTo("/ws?other=***&t=***&token=3");
    }

    @Test
    void theHeaderOfATokenIsHidden() {
        Redaction redaction = new Redaction(LogAssembly.hidden(config(jwt("header: X-Ticket"), "{}")));
        assertThat(redaction
                        .headerValue(FieldName.of("X-Ticket"), new AsciiString("secret"))
                        .toString())
                .isEqualTo("***");
        assertThat(redaction
                        .headerValue(FieldName.of("X-Tier"), new AsciiString("gold"))
                        .toString())
                .isEqualTo("gold");
    }
}
