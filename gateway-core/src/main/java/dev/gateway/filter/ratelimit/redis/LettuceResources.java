package dev.gateway.filter.ratelimit.redis;

import io.lettuce.core.event.Event;
import io.lettuce.core.event.EventBus;
import io.lettuce.core.event.EventPublisherOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.SocketAddressResolver;
import io.lettuce.core.tracing.Tracing;
import io.netty.channel.EventLoop;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/** What Lettuce needs of its surroundings: an event loop of the gateway, and no thread of its own. */
final class LettuceResources implements ClientResources {
    private final EventLoop loop;
    private final NettyCustomizer customizer;

    /**
     * Makes them.
     *
     * @param customizer adds handlers to each channel
     */
    LettuceResources(EventLoop loop, NettyCustomizer customizer) {
        this.loop = loop;
        this.customizer = customizer;
    }

    /** Tells nobody. */
    private static final class SilentBus implements EventBus {
        @Override
        public Flux<Event> get() {
            return Flux.never();
        }

        @Override
        public void publish(Event event) {}
    }

    /** The loop's timers, as Lettuce wants them. */
    private record LoopTimer(EventLoop loop) implements Timer {
        @Override
        public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
            return new LoopTimeout(this, task, delay, unit);
        }

        @Override
        public Set<Timeout> stop() {
            return Set.of(); // they end with the loop
        }
    }

    private static final class LoopTimeout implements Timeout {
        private final LoopTimer timer;
        private final TimerTask task;
        private final ScheduledFuture<@Nullable Void> scheduled;

        LoopTimeout(LoopTimer timer, TimerTask task, long delay, TimeUnit unit) {
            this.timer = timer;
            this.task = task;
            this.scheduled = timer.loop.schedule(this::run, delay, unit);
        }

        private @Nullable Void run() throws Exception {
            task.run(this);
            return null;
        }

        @Override
        public Timer timer() {
            return timer;
        }

        @Override
        public TimerTask task() {
            return task;
        }

        @Override
        public boolean isExpired() {
            return scheduled.isDone() && !scheduled.isCancelled();
        }

        @Override
        public boolean isCancelled() {
            return scheduled.isCancelled();
        }

        @Override
        public boolean cancel() {
            return scheduled.cancel(false);
        }
    }

    @Override
    public Timer timer() {
        return new LoopTimer(loop);
    }

    @Override
    public EventBus eventBus() {
        return new SilentBus();
    }

    @Override
    public EventExecutorGroup eventExecutorGroup() {
        return loop;
    }

    @Override
    public NettyCustomizer nettyCustomizer() {
        return customizer;
    }

    @Override
    public CommandLatencyRecorder commandLatencyRecorder() {
        return CommandLatencyRecorder.disabled();
    }

    @Override
    public Tracing tracing() {
        return Tracing.disabled();
    }

    @Override
    public int computationThreadPoolSize() {
        return 0;
    }

    @Override
    public int ioThreadPoolSize() {
        return 0;
    }

    @Override
    public Future<Boolean> shutdown() {
        return loop.newSucceededFuture(true);
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return shutdown();
    }

    @Override
    public EventPublisherOptions commandLatencyPublisherOptions() {
        throw unused();
    }

    @Override
    public EventLoopGroupProvider eventLoopGroupProvider() {
        throw unused();
    }

    @Override
    public AddressResolverGroup<?> addressResolverGroup() {
        throw unused();
    }

    @Override
    public SocketAddressResolver socketAddressResolver() {
        throw unused();
    }

    @Override
    public Delay reconnectDelay() {
        throw unused();
    }

    @Override
    public Builder mutate() {
        throw unused();
    }

    /** The connector makes connections without it. */
    private static UnsupportedOperationException unused() {
        return new UnsupportedOperationException("the gateway connects without it");
    }
}
