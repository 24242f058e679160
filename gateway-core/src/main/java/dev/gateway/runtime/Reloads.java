package dev.gateway.runtime;

import dev.gateway.admin.AdminPages.Outcome;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.files.StartException;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.runtime.process.Systemd;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Configuration reload. Reads the configuration again when its file has changed or somebody asks, and tells what came of
 * it: in the log, the metrics, to systemd, and to its caller. All of it happens on the reload thread; any thread may
 * ask.
 */
public final class Reloads {
    private static final Logger log = LoggerFactory.getLogger(Reloads.class);

    private final ConfigFile file;
    private final Generations generations;
    private final DataPlane dataPlane;
    private final Metrics metrics;
    private final ReloadThread thread;
    private final Systemd systemd;
    private final ReloadHistory history = new ReloadHistory();
    private volatile String failure = ""; // of the last reload, if it failed

    /** Makes it for the file that the gateway was started from. */
    public Reloads(
            ConfigFile file, Generations generations, DataPlane dataPlane, ReloadThread thread, Systemd systemd) {
        this.file = file;
        this.generations = generations;
        this.dataPlane = dataPlane;
        this.metrics = dataPlane.metrics();
        this.thread = thread;
        this.systemd = systemd;
    }

    /** Looks at the files, and reloads if they have changed; on the thread, from time to time. */
    public void look() {
        if (file.hasSettled()) {
            reload(file.news());
        }
    }

    /** Reloads as soon as the thread is free. */
    public CompletableFuture<Outcome> request(String reason) {
        return CompletableFuture.supplyAsync(() -> reload(reason), thread.executor());
    }

    /** Returns why the last reload failed and when, or nothing if it did not fail. */
    public String failure() {
        return failure;
    }

    /** Returns the last reloads. */
    public ReloadHistory history() {
        return history;
    }

    /** Returns one line with the active generation, and what is wrong. */
    public String status() {
        String serving = "Serving generation " + generations.number();
        return failure.isEmpty() ? serving : serving + "; " + failure;
    }

    private Outcome reload(String reason) {
        if (thread.isOver()) {
            return Outcome.failed(ReloadThread.REFUSED);
        }
        log.info("Reloading: {}", reason);
        systemd.reloading();
        dataPlane.resolver().doubtAll(); // a reload may follow a change of DNS
        List<String> lines = new ArrayList<>();
        ConfigChange change = null;
        Instant time = Instant.now();
        try {
            change = load(lines);
        } catch (StartException e) {
            log.error(e.getMessage());
            lines.add(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) { // such as if a plugin finds no memory
            log.error("A bug made a reload fail", e);
            lines.add("an error in the gateway itself: " + e);
        }
        List<String> problems = List.copyOf(lines);
        Outcome outcome = change != null ? succeeded(change, lines) : failed(lines);
        history.add(time, reason, generations.number(), change, problems);
        metrics.onReload(change != null); // last: a reader of the metric may rely on the outcome
        systemd.ready(status());
        return outcome;
    }

    /** Returns what has changed; null if the file is invalid. */
    private @Nullable ConfigChange load(List<String> lines) throws StartException {
        generations.filterStates().awaitWriters();
        List<Problem> before = file.warnings();
        LoadResult result = file.load();
        for (Problem problem : result.problems()) {
            lines.add(problem.toString());
            if (problem.severity() == Problem.Severity.ERROR) {
                log.error(problem.toString());
            } else if (count(result.problems(), problem) > count(before, problem)) { // else the log has it
                log.warn(problem.toString());
            }
        }
        if (!(result instanceof LoadResult.Valid valid)) {
            return null;
        }
        GatewayConfig former = generations.required().config;
        generations.advance(valid.config());
        dataPlane.reopenLog();
        for (String fixed : generations.fixed()) {
            log.warn(fixed);
            lines.add(fixed);
        }
        return ConfigChange.between(former, valid.config());
    }

    /** Counts problems with the same message, wherever in the file they are: lines may have moved. */
    private static long count(List<Problem> problems, Problem like) {
        return problems.stream()
                .filter(each -> each.message().equals(like.message()))
                .count();
    }

    private Outcome succeeded(ConfigChange change, List<String> lines) {
        failure = "";
        String number = "generation " + generations.number() + " is active";
        log.info("Reloaded: {}; {}", number, change);
        lines.add(number);
        String last = history.lastChange();
        lines.add(change.isNone() && !last.isEmpty() ? change + " since " + last : change.toString());
        return Outcome.done(String.join("\n", lines));
    }

    private Outcome failed(List<String> lines) {
        failure = "the reload at " + Instant.now().truncatedTo(ChronoUnit.SECONDS) + " failed: "
                + String.join("\n", lines);
        // Logged last: a reader of the line may ask for the status at once.
        log.error("The reload failed: generation {} stays active", generations.number());
        return Outcome.failed(String.join("\n", lines));
    }
}
