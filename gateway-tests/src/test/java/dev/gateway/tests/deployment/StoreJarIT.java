package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code gateway.jar} has all of Lettuce that a store needs, whatever Redis does. */
@Tag("jar")
@Timeout(120)
class StoreJarIT {
    @Test
    void aStoreWorksFailsAndWorksAgain() throws Exception {
        try (RedisServer redis = RedisServer.start("--requirepass", "right");
                GatewayJar gateway = GatewayJar.of(
                                """
                                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                stores:
                                  - {name: good, redis: "redis://:right@localhost:PORT/1", timeout: 10s}
                                  - {name: bad, redis: "redis://:wrong@127.0.0.1:PORT"}
                                  - {name: tls, redis: "rediss://127.0.0.1:PORT"}
                                routes:
                                  - rules:
                                      - filters:
                                          - type: RateLimit
                                            rateLimit:
                                              limits:
                                                - {name: a, requests: 1000, interval: 1h, store: good}
                                                - {name: b, requests: 1000, interval: 1h, store: bad}
                                                - {name: c, requests: 1000, interval: 1h, store: tls}
                                          - {type: DirectResponse, directResponse: {body: hello}}
                                admin: {address: 127.0.0.1, port: 0}
                                """
                                        .replace("PORT", "" + redis.port()))
                        .start()) {
            gateway.awaitLog("Store good answers");
            gateway.awaitLog("Store bad does not answer");
            gateway.awaitLog("Store tls does not answer");
            assertThat(status(gateway)).isEqualTo(200);
            assertThat(gateway.metric(
                            "gateway_ratelimit_store_decisions_total", "store=\"good\"", "result=\"allowed\""))
                    .isEqualTo(1);
            redis.kill();
            gateway.awaitLog("Store good does not answer");
            assertThat(status(gateway)).isEqualTo(200);
            redis.restart();
            gateway.awaitLog("Store good answers");
            assertThat(status(gateway)).isEqualTo(200);
            assertThat(gateway.log()).doesNotContain("Error", "Exception", "right", "wrong");
        }
    }

    private static int status(GatewayJar gateway) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + gateway.port("web") + "/");
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                .statusCode();
    }
}
