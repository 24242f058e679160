package dev.gateway.benchmarks;

import dev.gateway.net.WriteBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to hand a channel a head and a short body, as one buffer and as two; less what the kernel takes for them. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class WriteBatchBenchmark {
    private static final int HEAD = 150;
    private static final int BODY = 100;

    private final PooledByteBufAllocator alloc = PooledByteBufAllocator.DEFAULT;
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext ctx = channel.pipeline().firstContext();
    private final WriteBatch batch = new WriteBatch();
    private final ByteBuf head = alloc.directBuffer(HEAD).writeZero(HEAD);

    /** Makes a channel with the allocator that the gateway's have. */
    public WriteBatchBenchmark() {
        channel.config().setAllocator(alloc);
    }

    private ByteBuf body() {
        return alloc.directBuffer(BODY).writeZero(BODY); // as if it had been read
    }

    @Benchmark
    public int together() {
        batch.room(ctx, HEAD).writeBytes(head, 0, HEAD);
        batch.write(ctx, body());
        batch.emit(ctx);
        return flushed();
    }

    @Benchmark
    public int apart() {
        ctx.write(alloc.directBuffer(HEAD, HEAD).writeBytes(head, 0, HEAD), ctx.voidPromise());
        ctx.write(body(), ctx.voidPromise());
        return flushed();
    }

    private int flushed() {
        channel.flush();
        int bytes = 0;
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            bytes += out.readableBytes();
            out.release();
        }
        return bytes;
    }

    @TearDown
    public void release() {
        head.release();
        channel.finishAndReleaseAll();
    }
}
