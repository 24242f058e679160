package dev.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The document that describes the admin API says what the pages do, and the pages do what it says. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what each test's start sets
class OpenApiTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What has to be asked for a good answer. */
    private static final Map<String, List<String>> QUESTIONS = Map.of(
            "/explain",
            List.of(
                    "?host=localhost&path=/x&format=json",
                    "?host=localhost&path=/x",
                    "?host=none&path=/internal&format=json",
                    "?connect=127.0.0.1:80&format=json",
                    "?connect=1.2.3.4:80&identity=alice&group=g&format=json"),
            "/stats",
            List.of("?format=json", ""),
            "/connections",
            List.of("", "?limit=1"),
            "/log-level",
            List.of("?logger=dev.gateway.tests.openapi&level=inherit")); // which says nothing to who only looks

    @TempDir
    Path directory;

    private AdminRig rig;
    private JsonNode document;

    @BeforeEach
    void start() throws Exception {
        rig = new AdminRig(directory, "");
        document = rig.json("/openapi.json");
    }

    @AfterEach
    void stop() throws IOException {
        rig.close();
    }

    private static String page(String path) {
        return path.startsWith("/endpoints/") ? "/endpoints/" : path;
    }

    @Test
    void theDocumentHasAllPagesAndNoOther() throws Exception {
        TreeSet<String> described = new TreeSet<>();
        document.get("paths").properties().forEach(path -> path.getValue()
                .fieldNames()
                .forEachRemaining(
                        method -> described.add((method.equals("post") ? "POST " : "") + page(path.getKey()))));
        TreeSet<String> pages = new TreeSet<>(List.of("/"));
        String index = rig.get("/").body();
        Pattern.compile("href=\"([^\"?]+)").matcher(index).results().forEach(link -> pages.add(link.group(1)));
        Pattern.compile("<li>(POST [^<]+)").matcher(index).results().forEach(action -> pages.add(action.group(1)));
        assertThat(described).isEqualTo(pages);
    }

    @Test
    void eachPageAnswersAsItIsDescribed() throws Exception {
        try (Socket connection = rig.connect("web");
                Socket other = rig.connect("web")) {
            for (Socket socket : List.of(connection, other)) {
                AdminRig.write(socket, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
                AdminRig.head(socket);
            }
            List<String> checked = new ArrayList<>();
            for (Map.Entry<String, JsonNode> path : document.get("paths").properties()) {
                JsonNode get = path.getValue().get("get");
                if (get != null) {
                    for (String query : QUESTIONS.getOrDefault(path.getKey(), List.of(""))) {
                        check(get, path.getKey() + query, rig.get(path.getKey() + query), 200);
                        checked.add(path.getKey());
                    }
                    if (get.get("responses").has("400")) {
                        check(get, path.getKey(), rig.get(path.getKey() + "?unknown=1"), 400);
                    }
                }
            }
            assertThat(checked).hasSizeGreaterThan(20);
        }
    }

    @Test
    void eachActionAnswersAsItIsDescribed() throws Exception {
        List<String> last = List.of("/drain", "/quit");
        List<String> paths = new ArrayList<>();
        document.get("paths").properties().forEach(path -> {
            if (path.getValue().has("post") && !last.contains(path.getKey())) {
                paths.add(path.getKey());
            }
        });
        paths.addAll(last);
        assertThat(paths).hasSize(6);
        for (String path : paths) {
            JsonNode post = document.get("paths").get(path).get("post");
            String asked = path.replace("{upstream}", "app")
                            .replace(
                                    "{endpoint}",
                                    "127.0.0.1:" + rig.one.getAddress().getPort())
                    + QUESTIONS.getOrDefault(path, List.of("")).get(0);
            HttpResponse<String> refused = rig.send(rig.to("admin", asked).POST(BodyPublishers.noBody()));
            check(post, asked, refused, 403);
            // This gateway has not been started from a file that could be read again.
            check(post, asked, rig.post(asked), path.equals("/reload") ? 422 : last.contains(path) ? 202 : 200);
        }
    }

    private void check(JsonNode operation, String asked, HttpResponse<String> response, int status) throws Exception {
        assertThat(response.statusCode()).as("%s: %s", asked, response.body()).isEqualTo(status);
        JsonNode described = operation.get("responses").get(String.valueOf(status));
        assertThat(described).as("%s answers with %s", asked, status).isNotNull();
        if (described.has("$ref")) {
            described = document.at(described.get("$ref").asText().substring(1));
        }
        String type = response.headers().firstValue("content-type").orElse("");
        JsonNode content = described.get("content").get(type);
        assertThat(content).as("%s answers with %s", asked, type).isNotNull();
        if (type.equals("application/json")) {
            ObjectNode schema = JSON.createObjectNode();
            schema.setAll((ObjectNode) content.get("schema"));
            schema.set("components", document.get("components"));
            assertThat(SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                            .getSchema(schema)
                            .validate(JSON.readTree(response.body())))
                    .as("%s: %s", asked, response.body())
                    .isEmpty();
        } else {
            assertThat(response.body()).as(asked).isNotEmpty();
        }
    }
}
