package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.JarMaker;
import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Filters of jars in the directory of plugins. */
class PluginsIT {
    /** Adds a field with the version of the code, and a mark before the body. Its last method needs a class of its own. */
    private static final String GREET =
            """
            import dev.gateway.filter.*;
            import dev.gateway.message.*;
            import dev.gateway.plugin.*;
            import io.netty.buffer.*;
            import java.nio.charset.StandardCharsets;
            import java.util.List;
            public class Greet implements FilterPlugin {
                static final SettingKey<String> TEXT = SettingKey.text("text", "Says.");
                public String type() { return "Greet"; }
                public String description() { return "Greets."; }
                public List<SettingKey<?>> keys() { return List.of(TEXT); }
                public FilterPlace place() { return FilterPlace.UPSTREAM; }
                public Filter create(Settings settings) {
                    String text = settings.get(TEXT) + "-VERSION";
                    return new Filter() {
                        public void onResponse(ResponseHead head, FilterContext context) {
                            head.fields().add(FieldName.of("x-greeting"), new io.netty.util.AsciiString(text));
                        }
                        public BodyTransform responseBody(ResponseHead head, boolean last, FilterContext context) {
                            if (last) { return null; }
                            head.forgetLength();
                            return new Marks();
                        }
                    };
                }
                static class Marks implements BodyTransform {
                    public Result transform(ByteBuf in, Input input) {
                        if (input == Input.ENDS && !in.isReadable()) {
                            return new Piece(Late.mark(), true);
                        }
                        return in.isReadable() ? new Piece(in.readRetainedSlice(in.readableBytes()), false) : MORE;
                    }
                    public void close() {}
                }
                static class Late {
                    static ByteBuf mark() {
                        return Unpooled.copiedBuffer("[VERSION]", StandardCharsets.US_ASCII);
                    }
                }
            }
            """;

    @TempDir
    private Path plugins;

    private void greet(String version) throws IOException {
        JarMaker.plugin(plugins.resolve("greet.jar"), "Greet", GREET.replace("VERSION", version));
    }

    private Rig rig(Origin origin, Pairing pairing, String filter) throws IOException {
        return Rig.to(origin, pairing)
                .rule("filters: [" + filter + "]")
                .plugins(plugins)
                .start();
    }

    @ParameterizedTest
    @EnumSource
    void aFilterOfAJarSeesHeadsAndBodies(Pairing pairing) throws Exception {
        greet("1");
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, pairing, "{type: Greet, greet: {text: hello}}");
                Peer client = rig.connect(pairing)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/"), false);
            stream.send("some", false);
            stream.send("thing", true);
            assertThat(stream.receiveFinal().get("x-greeting")).contains("hello-1");
            assertThat(stream.receiveBody()).asString().isEqualTo("something[1]");
        }
    }

    @CrossPairingTest
    void aChangedJarIsUsedAfterTheReloadAndWhatHasBegunEndsWithTheFormer(Pairing pairing) throws Exception {
        greet("1");
        try (Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, pairing, "{type: Greet, greet: {text: hello}}");
                Peer client = rig.connect(pairing);
                Peer second = rig.connect(pairing)) {
            PeerStream before = client.open();
            before.send(Head.request("POST", "/"), false);
            before.send("old", false);
            assertThat(before.receiveFinal().get("x-greeting")).contains("hello-1");
            greet("2"); // in place
            rig.reload(Files.readString(rig.file()));
            PeerStream after = second.open();
            after.send(Head.request("POST", "/"), false);
            after.send("new", true);
            assertThat(after.receiveFinal().get("x-greeting")).contains("hello-2");
            assertThat(after.receiveBody()).asString().isEqualTo("new[2]");
            rig.awaitMetric(1, "gateway_config_generations_draining");
            before.send("", true);
            assertThat(before.receiveBody())
                    .asString()
                    .as("a class that was not loaded before")
                    .isEqualTo("old[1]");
            rig.awaitMetric(0, "gateway_config_generations_draining"); // its class loader is closed then
        }
    }

    @Test
    void aBrokenJarFailsTheReloadAndTheRunningConfigurationStays() throws Exception {
        greet("1");
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = rig(origin, Pairing.H1_TO_H1, "{type: Greet, greet: {text: hello}}");
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            Files.writeString(plugins.resolve("greet.jar"), "garbage"); // in place, while it is used
            HttpResponse<String> answer = rig.post("/reload");
            assertThat(answer.statusCode()).isNotEqualTo(200);
            assertThat(answer.body()).contains("greet.jar: the plugin cannot be loaded");
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().get("x-greeting")).contains("hello-1");
            assertThat(stream.receiveBody()).asString().isEqualTo("ok[1]");
        }
    }

    @Test
    void explanationAndPrintedConfigurationKnowThePlugin() throws Exception {
        greet("1");
        try (Origin origin = Origin.start();
                Rig rig = rig(origin, Pairing.H1_TO_H1, "{type: Greet, greet: {text: hello}}")) {
            assertThat(rig.admin("/config")).contains("type: Greet", "text: hello");
            assertThat(rig.admin("/explain?path=/")).contains("Greet");
        }
    }
}
