package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.admin.AdminResponse;
import dev.gateway.admin.DirectQuestions;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages that show a running gateway, as they are answered. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what the start sets
class StatusPagesTest {
    @TempDir
    static Path directory;

    private static StatusRig rig;

    @BeforeAll
    static void start() throws Exception {
        rig = StatusRig.start(
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: shop
                    hostnames: [shop.test]
                    rules:
                      - matches: [{headers: [{name: authorization, value: "${TOKEN}"}]}]
                        backendRefs: [{name: app}]
                      - backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9001}]}]
                admin: {enabled: false}
                accessLog: {format: off}
                workers: 2
                """,
                directory);
        new StatusPages(() -> rig.active(), rig.listeners, rig.dataPlane, rig.certificates, rig.generations, null)
                .addTo(rig.pages);
    }

    @AfterAll
    static void stop() {
        rig.close();
    }

    private static AdminResponse get(String path) {
        return DirectQuestions.get(rig.pages, path);
    }

    private static JsonNode json(String path) throws IOException {
        AdminResponse response = get(path);
        assertThat(response.status()).as(response.text()).isEqualTo(200);
        assertThat(response.type().toString()).isEqualTo("application/json");
        return new ObjectMapper().readTree(response.text());
    }

    @ParameterizedTest
    @CsvSource({"/listeners, listeners, 1", "/routes, routes, 2", "/upstreams, upstreams, 1"})
    void whatIsConfiguredIsShownWithTheNumberOfItsGeneration(String path, String name, int size) throws IOException {
        JsonNode page = json(path);
        assertThat(page.get("generation").asInt()).isEqualTo(1);
        assertThat(page.get(name).size()).isEqualTo(size);
    }

    @ParameterizedTest
    @CsvSource({"/connections, connections", "/tunnels, tunnels", "/certificates, certificates", "/reloads, reloads"})
    void whereThereIsNothingTheListIsEmpty(String path, String name) throws IOException {
        JsonNode page = json(path);
        assertThat(page.get(name).isArray()).isTrue();
        assertThat(page.get(name).size()).isZero();
        assertThat(page.has("next")).isFalse();
    }

    @Test
    void theConfigurationIsShownWithoutItsSecrets() {
        AdminResponse config = get("/config");
        assertThat(config.type().toString()).isEqualTo("application/yaml");
        assertThat(config.text()).contains("name: shop", "<masked>").doesNotContain("open-sesame");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/connections?limit=0", "/tunnels?after=x", "/connections?limt=1", "/explain?path=/&hst=a"})
    void aQuestionThatCannotBeMeantIsABadOne(String path) {
        assertThat(get(path).status()).isEqualTo(400);
    }

    @Test
    void anExplanationIsTextForPeopleAndJsonForPrograms() throws IOException {
        AdminResponse text = get("/explain?host=shop.test&path=/a");
        assertThat(text.status()).isEqualTo(200);
        assertThat(text.text()).startsWith("GET shop.test/a\n").contains("=> route shop", "state healthy");
        JsonNode listener = json("/explain?host=shop.test&path=/a&format=json")
                .get("listeners")
                .get(0);
        assertThat(listener.get("listener").asText()).isEqualTo("web");
    }

    @Test
    void theMethodAndHeaderOfAQuestionCount() {
        assertThat(get("/explain?method=POST&host=shop.test&header=authorization:%20open-sesame")
                        .text())
                .startsWith("POST shop.test/\n")
                .contains("=> route shop/1")
                .doesNotContain("open-sesame");
        assertThat(get("/explain?host=shop.test").text()).contains("=> route shop/2");
    }

    @Test
    void aQuestionAboutNothingIsAnsweredWithAnExample() {
        AdminResponse answer = get("/explain?method=GET");
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text()).startsWith("ask for a request, such as /explain?method=GET&host=a.example&path=/b");
    }

    @Test
    void aTunnelWhereNoneAreOfferedIsRefused() {
        assertThat(get("/explain?connect=a.test:443").text()).contains("405: no tunnels are offered here");
    }
}
