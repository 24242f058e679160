package dev.gateway.filter.externalauth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.assembly.FilterAssembly;
import dev.gateway.exchange.route.assembly.RouteAssembly;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.SharedServices;
import dev.gateway.filter.UpstreamCall;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.grpc.ProtoWriter;
import dev.gateway.stream.ViaSignature;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.UpstreamValues;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the listeners of a rule have to do with its auth server. */
class ExternalAuthFeatureTest {
    private static final String YAML =
            """
            listeners:
              - {name: web, port: 8080, protocol: HTTP, requestId: {header: X-Correlation-Id}}
              - {name: other, port: 8081, protocol: HTTP, requestId: {header: X-Other-Id}}
            routes:
              - parentRefs: [{name: web}]
                rules:
                  - backendRefs: [{name: authz}]
                    filters:
                      - {type: ExternalAuth, externalAuth: {backendRef: {name: authz}, protocol: GRPC}}
            upstreams:
              - {name: authz, protocol: h2c, endpoints: [{host: 127.0.0.1, port: 9000}]}
            """;

    private static Route route(RequestHead head) throws Exception {
        LoadResult.Valid read = (LoadResult.Valid) ConfigLoader.parse(YAML);
        Upstream authz = new Upstream(
                "authz",
                List.of(),
                NamedByRequest.POLICY,
                UpstreamValues.builder().maxConnections(1).build());
        List<Router> routers = RouteAssembly.routers(
                read.config(),
                Map.of("authz", authz),
                name -> ViaSignature.random(),
                new FilterAssembly(new FilterStates().prepare(), new SharedServices(), Map.of("authz", authz), false));
        return Objects.requireNonNull(routers.get(0).match(head)).route();
    }

    @ParameterizedTest
    @CsvSource({"x-correlation-id, false", "X-Request-Id, false", "x-other-id, true", "x-role, true"})
    void theServerCannotReplaceTheRequestIdOfAListenerOfTheRule(String name, boolean allowed) throws Exception {
        FakeContext context = FakeContext.from("192.0.2.1");
        RequestHead head = Heads.request("GET", "shop.test", "/", "x-correlation-id: r-1");
        route(head).filters().get(0).onRequest(head, context);
        ProtoWriter edit =
                new ProtoWriter().message(1, new ProtoWriter().text(1, name).text(2, "new"));
        ProtoWriter answer = new ProtoWriter()
                .message(1, new ProtoWriter().number(1, 0))
                .message(3, new ProtoWriter().message(2, edit));
        context.calls
                .get(0)
                .callback
                .onAnswer(new UpstreamCall.Answer(
                        new ResponseHead(200, null, Heads.fields("content-type: application/grpc"), -1),
                        answer.framed(),
                        true,
                        Heads.fields("grpc-status: 0")));
        assertThat(context.resumed.get(0)).isInstanceOf(allowed ? Verdict.Proceed.class : Verdict.Refuse.class);
        assertThat(head.fields().toString()).contains("r-1");
    }
}
