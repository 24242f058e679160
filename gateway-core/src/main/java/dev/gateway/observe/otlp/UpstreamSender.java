package dev.gateway.observe.otlp;

import dev.gateway.stream.Failure;
import dev.gateway.time.Timer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.health.Probe;
import io.netty.util.AsciiString;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.Compressor;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.common.export.HttpSender;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import io.opentelemetry.sdk.common.export.MessageWriter;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends what OpenTelemetry's exporters have made over an upstream of the gateway's own. So names are resolved, and
 * connections made, as for all upstreams. Any thread may send; the rest runs on one event loop.
 */
final class UpstreamSender implements HttpSender {
    /** How many kept connections in a row may turn out to be closed, as for requests of clients. */
    private static final int MOST_STALE = 2;

    private final Link link;
    private final HttpSenderConfig config;
    private final AsciiString path;
    private final Set<Sending> running = new HashSet<>(); // used on the event loop only

    UpstreamSender(Link link, HttpSenderConfig config) {
        this.link = link;
        this.config = config;
        this.path = new AsciiString(config.getEndpoint().getRawPath());
    }

    /** Returns what gives exporters their sender, where the SDK would look for a library with an HTTP client. */
    static ComponentLoader loader(Link link) {
        HttpSenderProvider provider = config -> new UpstreamSender(link, config);
        return new ComponentLoader() {
            @Override
            public <T> Iterable<T> load(Class<T> type) {
                return type.isInstance(provider) ? List.of(type.cast(provider)) : List.of();
            }
        };
    }

    @Override
    public void send(MessageWriter message, Consumer<HttpResponse> onResponse, Consumer<Throwable> onError) {
        try {
            byte[] body = body(message);
            link.wheel().loop().execute(() -> new Sending(body, onResponse, onError).begin());
        } catch (IOException | RejectedExecutionException e) { // the latter if the event loops have ended
            onError.accept(e);
        }
    }

    private byte[] body(MessageWriter message) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(Math.max(message.getContentLength(), 0));
        Compressor compressor = config.getCompressor();
        try (OutputStream out = compressor == null ? bytes : compressor.compress(bytes)) {
            message.writeMessage(out);
        }
        return bytes.toByteArray();
    }

    /** Gives up what is being sent. */
    @Override
    public CompletableResultCode shutdown() {
        try {
            link.wheel().loop().execute(() -> Set.copyOf(running)
                    .forEach(each -> each.giveUp(new IOException("the export has been ended"))));
        } catch (RejectedExecutionException e) {
            // The event loops have ended, and all that they sent with them.
        }
        return CompletableResultCode.ofSuccess();
    }

    /** One message, until it has an answer or its time is over; expires when it is time to send it again. */
    private final class Sending extends Timer implements Probe.Listener {
        private final byte[] body;
        private final Consumer<HttpResponse> onResponse;
        private final Consumer<Throwable> onError;
        private final long endNanos;
        private int attempts;
        private int stale;
        private @Nullable Probe probe;
        private @Nullable ExportQuestion question;

        Sending(byte[] body, Consumer<HttpResponse> onResponse, Consumer<Throwable> onError) {
            this.body = body;
            this.onResponse = onResponse;
            this.onError = onError;
            this.endNanos = link.wheel().nanoTime() + config.getTimeout().toNanos();
        }

        void begin() {
            running.add(this);
            attempt();
        }

        private void attempt() {
            attempts++;
            ask();
        }

        private void ask() {
            try {
                open();
            } catch (RuntimeException | OutOfMemoryError e) { // or nobody would be told
                giveUp(e);
            }
        }

        private void open() {
            Endpoint endpoint = link.upstream().hosts().get(0).endpoint();
            ExportQuestion asked =
                    new ExportQuestion(ExportQuestion.head(link.upstream(), endpoint, path, config, body.length), body);
            Probe begun = new Probe(this, asked);
            question = asked;
            probe = begun;
            link.wheel().arm(begun, Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNanos())));
            begun.began(link.opener().open(link.upstream(), endpoint, asked.kind(), null, begun, begun));
        }

        private long leftNanos() {
            return endNanos - link.wheel().nanoTime();
        }

        @Override
        protected void onExpired() {
            attempt();
        }

        /** Sends it again in a while, if the exporter wants that and there is time for it. */
        private boolean sendsAgain() {
            RetryPolicy policy = config.getRetryPolicy();
            if (policy == null || attempts >= policy.getMaxAttempts()) {
                return false;
            }
            double most = (double) policy.getInitialBackoff().toNanos()
                    * Math.pow(policy.getBackoffMultiplier(), attempts - 1);
            long pause = (long) (Math.min(most, (double) policy.getMaxBackoff().toNanos())
                    * ThreadLocalRandom.current().nextDouble(0.8, 1.2));
            if (pause >= leftNanos()) {
                return false;
            }
            link.wheel().arm(this, TimeUnit.NANOSECONDS.toMillis(pause) + 1);
            return true;
        }

        @Override
        public void onAnswered(@Nullable String failure) {
            ExportQuestion answered = Objects.requireNonNull(question);
            if (failure == null) {
                end();
                onResponse.accept(answered);
            } else if (!answered.isRefusedForNow() || !sendsAgain()) {
                end();
                onError.accept(new IOException(failure));
            }
        }

        @Override
        public void onFailed(Failure failure) {
            if (failure.stale() && stale < MOST_STALE) {
                stale++;
                ask(); // the receiver had closed the connection before it got the request
            } else if (!sendsAgain()) {
                end();
                onError.accept(new IOException(failure.cause().label() + ": " + failure.detail()));
            }
        }

        @Override
        public void onTimeout() {
            end();
            onError.accept(new IOException(
                    "no complete answer in " + config.getTimeout().toMillis() + " ms"));
        }

        private void giveUp(Throwable why) {
            if (probe != null) {
                probe.abandon();
            }
            end();
            onError.accept(why);
        }

        private void end() {
            cancel();
            running.remove(this);
        }
    }
}
