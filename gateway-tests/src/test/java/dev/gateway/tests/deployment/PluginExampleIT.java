package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.ExampleProject;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example of a plugin: Maven builds it as a project of its own, with the test kit, and a gateway loads its jar. */
@Timeout(300)
class PluginExampleIT {
    private static final String FILTER = "filters: [{type: AddGreeting, addGreeting: {text: %s}}]";

    @TempDir
    static Path built;

    private static Path target;

    @TempDir
    Path plugins;

    @BeforeAll
    static void build() throws Exception {
        target = ExampleProject.build(Path.of("../docs/plugin-example"), built);
    }

    @AfterAll
    static void removeLinks() throws IOException {
        ExampleProject.removeLinks(built);
    }

    @Test
    void itsOwnTestHasRunItWithTheTestKit() throws IOException {
        assertThat(Files.readString(target.resolve("surefire-reports/TEST-com.example.AddGreetingPluginTest.xml")))
                .contains("tests=\"1\"", "errors=\"0\"", "skipped=\"0\"", "failures=\"0\"");
    }

    @Test
    void aGatewayLoadsItsJarAndChecksItsSettings() throws Exception {
        Files.copy(target.resolve("add-greeting.jar"), plugins.resolve("add-greeting.jar"));
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .rule(FILTER.formatted("Hello"))
                        .plugins(plugins)
                        .start();
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().get("x-greeting")).contains("Hello");
            assertThat(stream.receiveBody()).asString().isEqualTo("ok");

            String running = Files.readString(rig.file());
            Files.writeString(rig.file(), running.replace("{text: Hello}", "{text: Привет}"));
            HttpResponse<String> answer = rig.post("/reload");
            assertThat(answer.statusCode()).isEqualTo(422);
            assertThat(answer.body())
                    .containsPattern("gateway.yaml:\\d+:\\d+: text: expected ASCII characters on one line");
        }
    }
}
