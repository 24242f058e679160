package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.admin.AdminPages;
import dev.gateway.admin.ReadyHealth;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.files.StartException;
import dev.gateway.observe.meters.ConfiguredNames;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.runtime.ApplicationMeters;
import dev.gateway.runtime.CertificateReload;
import dev.gateway.runtime.DataPlane;
import dev.gateway.runtime.EndpointDrain;
import dev.gateway.runtime.Generations;
import dev.gateway.runtime.Lifecycle;
import dev.gateway.runtime.Listeners;
import dev.gateway.runtime.ReloadThread;
import dev.gateway.runtime.assembly.ActiveConfig;
import dev.gateway.runtime.process.ProcessEnvironment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/** The parts of a gateway that status pages look at, without periodic tasks: nothing changes but by the test. */
final class StatusRig implements AutoCloseable {
    final Metrics metrics = new Metrics("1.2.3");
    final DataPlane dataPlane;
    final Listeners listeners;
    final CertificateReload certificates;
    final Generations generations;
    final EndpointDrain endpointDrain;
    final AdminPages pages;
    private final ReloadThread thread = new ReloadThread();
    private final Lifecycle lifecycle;
    private final Path directory;

    private StatusRig(GatewayConfig config, Path directory) {
        this.directory = directory;
        dataPlane = new DataPlane(config, metrics, ProcessEnvironment.shared());
        pages = new AdminPages(
                new ReadyHealth(),
                metrics,
                new TunnelPages(this::active, name -> listeners().port(name)),
                dataPlane.adminWork());
        listeners = new Listeners(dataPlane, pages, thread.executor());
        certificates = new CertificateReload(listeners, dataPlane);
        generations = new Generations(dataPlane, listeners, certificates, metrics, thread);
        endpointDrain = new EndpointDrain(generations, dataPlane, thread.executor());
        ApplicationMeters meters = new ApplicationMeters(
                metrics, () -> new ConfiguredNames(Set.of(), Set.of(), Set.of()), false, dataPlane);
        lifecycle = new Lifecycle(dataPlane, listeners, generations, thread, meters, metrics, null);
    }

    private Listeners listeners() {
        return listeners;
    }

    /** Starts the parts; files of the configuration are in a directory. */
    static StatusRig start(String yaml, Path directory) throws StartException {
        GatewayConfig config = config(yaml, directory);
        StatusRig rig = new StatusRig(config, directory);
        rig.dataPlane.openDoors();
        rig.thread.run(() -> {
            rig.generations.advance(config);
            rig.endpointDrain.resume();
        });
        rig.lifecycle.onStarted();
        return rig;
    }

    /** Lets another configuration take over, and looks at the gateway before anything else happens to it. */
    void reload(String yaml, Runnable look) throws StartException {
        GatewayConfig config = config(yaml, directory);
        thread.run(() -> {
            generations.advance(config);
            look.run();
        });
    }

    /** Lets the gateway look at what has changed since it last looked, as it does from time to time. */
    void look() throws StartException {
        thread.run(generations.drains()::look);
    }

    /** Waits as the process of a gateway does. */
    void awaitStopped() {
        lifecycle.awaitStopped();
    }

    ActiveConfig active() {
        return generations.required();
    }

    private static GatewayConfig config(String yaml, Path directory) {
        LoadResult result = ConfigLoader.parse(
                "gateway.yaml", yaml.getBytes(StandardCharsets.UTF_8), directory, Map.of("TOKEN", "open-sesame"));
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    @Override
    public void close() {
        lifecycle.close();
        lifecycle.stop();
    }
}
