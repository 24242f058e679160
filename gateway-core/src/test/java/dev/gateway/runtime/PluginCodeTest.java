package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.Gateway;
import dev.gateway.GatewayOptions;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.IdlePlugin;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.plugin.PluginType;
import dev.gateway.message.RequestHead;
import dev.gateway.plugin.Settings;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The code of a plugin is freed when nothing can call it any more. */
@Timeout(60)
class PluginCodeTest {
    private static final String IDLE = "{type: Idle, idle: {}}, ";

    /** Has each exchange wait, and leave a task to its event loop at its end. */
    private final class Leaving extends IdlePlugin {
        @Override
        public Filter create(Settings settings) {
            return new Filter() {
                @Override
                public Verdict onRequest(RequestHead head, FilterContext context) {
                    waiting.complete(context);
                    return new Verdict.Wait(() -> {});
                }

                @Override
                public void onEnd(FilterContext context) {
                    context.loop().execute(PluginCodeTest.this::runTask);
                }
            };
        }
    }

    private final Queue<String> calls = new ConcurrentLinkedQueue<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private final CompletableFuture<FilterContext> waiting = new CompletableFuture<>();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path directory;

    private void runTask() {
        try {
            boolean early = released.await(300, TimeUnit.MILLISECONDS); // as long as the task runs, it must not happen
            calls.add(early ? "task without its code" : "task");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Code implements PluginType.Code {
        @Override
        public void retain() {
            calls.add("retain");
        }

        @Override
        public void release() {
            calls.add("release by " + Thread.currentThread().getName());
            released.countDown();
        }
    }

    @Test
    void theThreadThatEndsGenerationsFreesItOnce() throws Exception {
        Gateway.start(config(new IdlePlugin(), IDLE)).close();
        assertThat(calls).containsExactly("retain", "release by reload");
    }

    @Test
    void aTaskThatAFilterHasLeftToItsEventLoopStillHasIt() throws Exception {
        try (Gateway gateway = Gateway.start(config(new Leaving(), IDLE))) {
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port("web"))) {
                client.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                FilterContext exchange = waiting.get(30, TimeUnit.SECONDS);
                gateway.reload(config(new IdlePlugin(), ""));
                exchange.loop().execute(() -> exchange.resume(Verdict.PROCEED));
                assertThat(released.await(30, TimeUnit.SECONDS)).isTrue();
            }
        }
        assertThat(calls).containsExactly("retain", "task", "release by reload");
    }

    @Test
    void nothingKeepsTheFirstConfigurationAndTheCodeThatItNames() throws Exception {
        List<Gateway> started = new ArrayList<>();
        WeakReference<GatewayConfig> first = start(started);
        try (Gateway gateway = started.get(0)) {
            gateway.reload(config(new IdlePlugin(), ""));
            while (first.get() != null && !Thread.currentThread().isInterrupted()) {
                System.gc(); // the test's timeout interrupts this
            }
        }
    }

    private WeakReference<GatewayConfig> start(List<Gateway> started) throws Exception {
        GatewayConfig config = config(new IdlePlugin(), "");
        started.add(Gateway.start(config));
        return new WeakReference<>(config);
    }

    @Test
    void aFilterThatFindsNoMemoryFailsTheReloadAndNotTheNextOne() throws Exception {
        AtomicBoolean hungry = new AtomicBoolean();
        FilterPlugin plugin = new IdlePlugin() {
            @Override
            public Filter create(Settings settings) {
                if (hungry.get()) {
                    throw new OutOfMemoryError("made by the test");
                }
                return super.create(settings);
            }
        };
        Path file = write(IDLE);
        ConfigFile source = new ConfigFile(file, List.of(plugin));
        GatewayConfig config = ((LoadResult.Valid) source.load()).config();
        try (Gateway gateway = Gateway.start(config, GatewayOptions.defaults().withFile(source))) {
            hungry.set(true);
            assertThat(gateway.reload("test").join().succeeded()).isFalse();
            hungry.set(false);
            assertThat(gateway.reload("test").join().succeeded()).isTrue();
        }
    }

    private Path write(String filters) throws IOException {
        return Files.writeString(
                directory.resolve("g.yaml"),
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{rules: [{filters: [%s{type: DirectResponse, directResponse: {}}]}]}]
                accessLog: {format: off}
                """
                        .formatted(filters));
    }

    private GatewayConfig config(FilterPlugin plugin, String filters) throws IOException {
        LoadResult result =
                ConfigLoader.load(write(filters), Map.of(), List.of(new PluginType(plugin, "a test", new Code())));
        assertThat(result.problems()).isEmpty();
        return ((LoadResult.Valid) result).config();
    }
}
