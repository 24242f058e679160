package dev.gateway.benchmarks;

import dev.gateway.config.value.Position;
import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.BodyTransform.Piece;
import dev.gateway.filter.BodyTransform.Result;
import dev.gateway.filter.FakeContext;
import dev.gateway.filter.coding.CodecLibraries;
import dev.gateway.filter.coding.ContentCoding;
import dev.gateway.filter.compression.CompressedBytes;
import dev.gateway.filter.compression.Compression;
import dev.gateway.filter.compression.CompressionConfig;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs to compress a response, by coding and level, and to decide that one stays as it is. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CompressionBenchmark {
    private static final Position AT = new Position("gateway.yaml", 1, 1);

    /** Its library must be there. */
    @Param({"GZIP", "BR", "ZSTD"})
    public ContentCoding coding = ContentCoding.GZIP;

    /** As in the configuration. */
    @Param({"1", "3", "4", "6", "9"})
    public int level;

    /** Of the response. */
    @Param({"2000", "50000"})
    public int bytes;

    private final CompressedBytes count = new CompressedBytes();
    private final FakeContext context = FakeContext.from("203.0.113.9");
    private final RequestHead accepting =
            Heads.get("shop.example.com", "/", "Accept-Encoding: gzip, deflate, br, zstd");
    private final RequestHead refusing = Heads.get("shop.example.com", "/", "Accept: */*");
    private ByteBuf body = ByteBufAllocator.DEFAULT.directBuffer();
    private Compression filter = filter(1);

    private Compression filter(int of) {
        return new Compression(
                new CompressionConfig(AT, List.of(coding), AT, 0, List.of("application/json"), of),
                List.of(coding),
                count);
    }

    /** Makes a response such as an API answers: a list of objects. */
    @Setup
    public void prepare() {
        String missing = CodecLibraries.load(coding);
        if (missing != null) {
            throw new IllegalStateException(missing);
        }
        filter = filter(level);
        Random random = new Random(1);
        StringBuilder json = new StringBuilder("[");
        while (json.length() < bytes) {
            json.append("{\"id\":").append(random.nextInt(1_000_000));
            json.append(",\"name\":\"item ").append(random.nextInt(10_000));
            json.append("\",\"price\":").append(random.nextInt(100_000) / 100.0);
            json.append(",\"available\":").append(random.nextBoolean()).append("},\n");
        }
        body = ByteBufAllocator.DEFAULT
                .directBuffer()
                .writeBytes(json.substring(0, bytes).getBytes(StandardCharsets.US_ASCII));
    }

    /** Tells how small the responses have become. */
    @TearDown
    public void tell() {
        body.release();
        System.out.printf(" %.1f %% of the size%n", 100.0 * count.output() / Math.max(1, count.input()));
    }

    private static ResponseHead response() {
        return new ResponseHead(200, null, Heads.fields("Content-Type: application/json", "ETag: \"v1\""), -1);
    }

    /** A whole response at once. */
    @Benchmark
    public int compressed() {
        filter.onRequest(accepting, context);
        BodyTransform transform = Objects.requireNonNull(filter.responseBody(response(), false, context));
        int length = 0;
        ByteBuf in = body.duplicate();
        boolean last = false;
        while (!last) {
            Result result = transform.transform(in, Input.ENDS);
            if (!(result instanceof Piece piece)) {
                throw new IllegalStateException("it has ended without a last piece");
            }
            length += piece.data().readableBytes();
            piece.data().release();
            last = piece.last();
        }
        transform.close();
        context.held = 0;
        return length;
    }

    /** The client does not accept it. */
    @Benchmark
    public Object leftAsItIs() {
        filter.onRequest(refusing, context);
        ResponseHead head = response();
        filter.responseBody(head, false, context);
        return head;
    }
}
