package dev.gateway.benchmarks;

import dev.gateway.config.listener.ListenerConfig.ForwardedHeaders;
import dev.gateway.message.ClientTarget;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.HopByHop;
import dev.gateway.message.Method;
import dev.gateway.message.ProxyFields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.forwarded.ForwardedFields;
import dev.gateway.message.path.PathNormalizer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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

/** What it costs to forward the fields of a browser's request: as they are, and with the edits of every exchange. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class FieldsBenchmark {
    private static final AsciiString HTTP = new AsciiString("http");
    private static final AsciiString HOST = new AsciiString("shop.example.com");
    private static final AsciiString PEER = new AsciiString("203.0.113.9");
    private static final AsciiString VIA = new AsciiString("1.1 gateway");
    private static final byte[] LINES =
            """
            Host: shop.example.com
            Connection: keep-alive
            sec-ch-ua: "Chromium";v="124", "Not-A.Brand";v="99"
            sec-ch-ua-mobile: ?0
            sec-ch-ua-platform: "Linux"
            User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 Safari/537.36
            Accept: image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8
            Sec-Fetch-Site: same-origin
            Sec-Fetch-Mode: no-cors
            Sec-Fetch-Dest: image
            Referer: https://shop.example.com/tiles
            Accept-Encoding: gzip, deflate, br
            Accept-Language: en-GB,en;q=0.9
            Cookie: id=0123456789abcdef0123456789abcdef; theme=dark
            """
                    .replace("\n", "\r\n")
                    .getBytes(StandardCharsets.US_ASCII);

    private final ByteBuf out = Unpooled.directBuffer(4096);
    private final Fields unedited = parsed();
    private final ForwardedFields forwarded = new ForwardedFields(ForwardedHeaders.X_FORWARDED);
    private final AsciiString plain = new AsciiString("/api/v1/orders/4711/items?page=2");
    private final AsciiString escaped = new AsciiString("/api//v1/%61/../orders/4711/items?page=2");

    private static Fields parsed() {
        byte[] bytes = LINES.clone();
        Fields fields = new Fields(bytes, bytes.length, 24);
        int start = 0;
        while (start < bytes.length) {
            int colon = start;
            while (bytes[colon] != ':') {
                colon++;
            }
            int end = colon;
            while (bytes[end] != '\r') {
                end++;
            }
            int id = FieldName.idOf(bytes, start, colon - start);
            fields.addParsed(start, colon - start, id, colon + 2, end - colon - 2);
            start = end + 2;
        }
        return fields;
    }

    @Benchmark
    public int serializeUnedited() {
        out.clear();
        unedited.writeTo(out);
        return out.writerIndex();
    }

    @Benchmark
    public Fields parseOnly() {
        return parsed();
    }

    /** Less {@link #parseOnly} it is what an exchange adds: hop-by-hop, forwarded fields, Via, and the copy out. */
    @Benchmark
    public int parseEditAndSerialize() {
        RequestHead head = new RequestHead(Method.GET, HTTP, HOST, plain, parsed(), 0);
        HopByHop.stripRequest(head.fields());
        ProxyFields.removeAll(head.fields());
        forwarded.apply(head, PEER, HTTP, ClientTarget.of(HTTP, HOST), null);
        head.fields().add(FieldName.VIA, VIA);
        out.clear();
        head.fields().writeTo(out);
        return out.writerIndex();
    }

    @Benchmark
    public @Nullable AsciiString normalizeNormalPath() {
        return PathNormalizer.normalize(plain);
    }

    @Benchmark
    public @Nullable AsciiString normalizeOddPath() {
        return PathNormalizer.normalize(escaped);
    }

    @TearDown
    public void release() {
        out.release();
    }
}
