package dev.gateway.filter.cors;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.value.Position;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CorsTest {
    private static final Position AT = new Position("gateway.yaml", 1, 1);
    private static final List<String> SHOP = List.of("https://shop.test", "https://*.shop.test", "http://*.test:8080");

    private static Cors filter(List<String> origins, boolean credentials, String... all) {
        List<String> given = List.of(all);
        return new Cors(new CorsConfig(
                AT, origins, given, given, credentials ? List.of("X-Id") : given, Duration.ofMinutes(10), credentials));
    }

    private static Fields fields(String... lines) {
        Fields fields = new Fields();
        for (String line : lines) {
            int colon = line.indexOf(':');
            fields.add(
                    FieldName.of(line.substring(0, colon)),
                    line.substring(colon + 1).strip());
        }
        return fields;
    }

    private static List<String> lines(Fields fields) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            lines.add(fields.lowerName(i) + ": " + fields.value(i));
        }
        return lines;
    }

    private static Verdict ask(Cors filter, Method method, FakeContext context, String... lines) {
        return filter.onRequest(
                new RequestHead(
                        method,
                        new AsciiString("http"),
                        new AsciiString("a.test"),
                        new AsciiString("/"),
                        fields(lines),
                        0),
                context);
    }

    private static List<String> preflight(Cors filter, String... lines) {
        Verdict verdict = ask(filter, Method.OPTIONS, FakeContext.from("192.0.2.1"), lines);
        assertThat(verdict).isInstanceOf(Verdict.Reply.class);
        assertThat(((Verdict.Reply) verdict).head().status()).isEqualTo(204);
        return lines(((Verdict.Reply) verdict).head().fields());
    }

    private static List<String> response(Cors filter, String request, String... upstream) {
        FakeContext context = FakeContext.from("192.0.2.1");
        assertThat(request.isEmpty() ? ask(filter, Method.GET, context) : ask(filter, Method.GET, context, request))
                .isEqualTo(Verdict.PROCEED);
        ResponseHead head = new ResponseHead(200, null, fields(upstream), 0);
        filter.onResponse(head, context);
        return lines(head.fields());
    }

    @ParameterizedTest
    @CsvSource({
        "https://shop.test, true",
        "HTTPS://Shop.test, true",
        "https://a.shop.test, true",
        "https://a.b.shop.test, true",
        "http://x.test:8080, true",
        "http://shop.test, false",
        "https://shop.test:8443, false",
        "https://evilshop.test, false",
        "https://.shop.test, false",
        "https://shop.test.evil.example, false",
        "https://evil.example/.shop.test, false",
        "https://evil.example#.shop.test, false",
        "https://evil.example\\.shop.test, false",
        "https://user@a.shop.test, false",
        "https://a..shop.test, false",
        "https://a:80.shop.test, false",
        "https://a_b-1.shop.test, true",
        "http://x.test, false",
        "http://.test:8080, false",
        "null, false",
        "'', false"
    })
    void anOriginIsAllowedAsAWholeOrBelowItsDomain(String origin, boolean allowed) {
        assertThat(new OriginRules(SHOP).allow(new AsciiString(origin))).isEqualTo(allowed);
        assertThat(new OriginRules(List.of("*")).allow(new AsciiString(origin))).isTrue();
    }

    @Test
    void aPreflightRequestIsAnsweredWithWhatIsAllowed() {
        Cors filter = new Cors(new CorsConfig(
                AT,
                SHOP,
                List.of("PUT", "DELETE"),
                List.of("X-Tenant", "Authorization"),
                List.of("X-Id"),
                Duration.ofMinutes(10),
                false));
        assertThat(preflight(
                        filter,
                        "Origin: https://a.shop.test",
                        "Access-Control-Request-Method: PUT",
                        "Access-Control-Request-Headers: x-other"))
                .containsExactly(
                        "vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
                        "access-control-allow-origin: https://a.shop.test",
                        "access-control-allow-methods: PUT, DELETE",
                        "access-control-allow-headers: X-Tenant, Authorization",
                        "access-control-max-age: 600");
        assertThat(preflight(filter, "Origin: https://evil.example", "Access-Control-Request-Method: PUT"))
                .containsExactly("vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
        String[] two = {"Origin: https://shop.test", "Origin: https://shop.test", "Access-Control-Request-Method: PUT"};
        assertThat(preflight(filter, two)).hasSize(1);
    }

    @Test
    void whatIsAskedForStandsForAll() {
        String[] question = {
            "Origin: https://x.example",
            "Access-Control-Request-Method: PATCH",
            "Access-Control-Request-Headers: x-a, authorization"
        };
        assertThat(preflight(filter(List.of("*"), true, "*"), question))
                .contains(
                        "access-control-allow-origin: https://x.example",
                        "access-control-allow-credentials: true",
                        "access-control-allow-methods: PATCH",
                        "access-control-allow-headers: x-a, authorization");
        assertThat(preflight(filter(List.of("*"), false, "*"), question))
                .contains(
                        "access-control-allow-origin: *",
                        "access-control-allow-methods: PATCH",
                        "access-control-allow-headers: x-a, authorization")
                .doesNotContain("access-control-allow-credentials: true");
    }

    @Test
    void anOptionsRequestThatAsksForNothingGoesToTheUpstream() {
        Cors filter = filter(SHOP, false);
        FakeContext context = FakeContext.from("192.0.2.1");
        assertThat(ask(filter, Method.OPTIONS, context, "Origin: https://shop.test"))
                .isEqualTo(Verdict.PROCEED);
        assertThat(ask(filter, Method.OPTIONS, context, "Access-Control-Request-Method: PUT"))
                .isEqualTo(Verdict.PROCEED);
        assertThat(ask(filter, Method.GET, context, "Origin: https://shop.test", "Access-Control-Request-Method: PUT"))
                .isEqualTo(Verdict.PROCEED);
    }

    @Test
    void aResponseHasTheGatewaysFieldsInPlaceOfTheUpstreams() {
        String[] upstream = {
            "Access-Control-Allow-Origin: https://evil.example",
            "Access-Control-Allow-Credentials: true",
            "Vary: Accept",
            "X-Id: 7"
        };
        assertThat(response(filter(SHOP, true), "Origin: https://shop.test", upstream))
                .containsExactly(
                        "vary: Accept",
                        "x-id: 7",
                        "vary: Origin",
                        "access-control-allow-origin: https://shop.test",
                        "access-control-allow-credentials: true",
                        "access-control-expose-headers: X-Id");
        assertThat(response(filter(SHOP, true), "Origin: https://evil.example", upstream))
                .containsExactly("vary: Accept", "x-id: 7", "vary: Origin");
        assertThat(response(filter(SHOP, true), "", upstream))
                .containsExactly("vary: Accept", "x-id: 7", "vary: Origin");
    }

    @Test
    void varyIsNotWrittenTwiceNorWhereEveryOriginGetsTheSame() {
        assertThat(response(filter(SHOP, false), "Origin: https://shop.test", "Vary: Accept, origin"))
                .containsExactly("vary: Accept, origin", "access-control-allow-origin: https://shop.test");
        assertThat(response(filter(SHOP, false), "Origin: https://shop.test", "Vary: *"))
                .containsExactly("vary: *", "access-control-allow-origin: https://shop.test");
        assertThat(response(filter(List.of("*"), false, "*"), "", "Vary: Accept"))
                .containsExactly("vary: Accept", "access-control-allow-origin: *", "access-control-expose-headers: *");
    }

    @Test
    void aPageMayReadWhyItsRequestFailed() {
        Cors filter = filter(SHOP, false);
        FakeContext context = FakeContext.from("192.0.2.1");
        ask(filter, Method.GET, context, "Origin: https://shop.test");
        Fields answer = fields("WWW-Authenticate: Basic", "Access-Control-Allow-Origin: *"); // of an auth server
        filter.onFailure(answer, context);
        assertThat(lines(answer))
                .containsExactly(
                        "www-authenticate: Basic", "vary: Origin", "access-control-allow-origin: https://shop.test");
    }
}
