package dev.gateway.protocol.http1;

import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
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

/**
 * What it costs to parse a head out of a socket's buffer, and to write it into one: a load generator's and a browser's
 * request, and an application's response.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class HeadBenchmark {
    private static final String SMALL = "GET /small HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
    private static final String BROWSER =
            """
            GET /catalogue/lamps?sort=price&page=4 HTTP/1.1
            Host: shop.example.test
            User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0
            Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8
            Accept-Language: en-US,en;q=0.7,de;q=0.3
            Accept-Encoding: gzip, deflate, br
            Referer: http://shop.example.test/catalogue/lamps?sort=price&page=3
            Cookie: consent=yes; theme=dark; visit=3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a
            Cache-Control: no-cache
            Upgrade-Insecure-Requests: 1

            """;
    private static final String RESPONSE =
            """
            HTTP/1.1 200 OK
            Date: Fri, 21 Nov 2025 10:00:00 GMT
            Content-Type: text/html; charset=utf-8
            Content-Length: 2000
            Cache-Control: private, max-age=0, must-revalidate
            ETag: "5f2c-61a8e0b3c4d5e"
            Set-Cookie: visit=3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a; Path=/; HttpOnly; SameSite=Lax
            Strict-Transport-Security: max-age=63072000
            Vary: Accept-Encoding, Cookie

            """;

    private final PooledByteBufAllocator alloc = PooledByteBufAllocator.DEFAULT;
    private final RequestParser requests = new RequestParser(HeadLimits.DEFAULT, new AsciiString("http"));
    private final ResponseParser responses = new ResponseParser(HeadLimits.DEFAULT);
    private final ByteBuf small = wire(SMALL);
    private final ByteBuf browser = wire(BROWSER.replace("\n", "\r\n"));
    private final ByteBuf response = wire(RESPONSE.replace("\n", "\r\n"));

    private final ByteBuf out = alloc.directBuffer(2048);
    private final IntFunction<ByteBuf> room = out::ensureWritable;

    private ByteBuf wire(String text) {
        return alloc.directBuffer(2048).writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    private RequestHead request(ByteBuf in) {
        in.readerIndex(0);
        requests.parse(in);
        RequestHead head = requests.head();
        if (head == null) {
            throw new IllegalStateException("refused");
        }
        return head;
    }

    @Benchmark
    public RequestHead parseSmall() {
        return request(small);
    }

    @Benchmark
    public RequestHead parseBrowser() {
        return request(browser);
    }

    @Benchmark
    public @Nullable ResponseHead parseResponse() {
        response.readerIndex(0);
        responses.parse(response);
        return responses.head();
    }

    /** Less {@link #parseBrowser} it is what writing costs. */
    @Benchmark
    public int parseAndWriteBrowser() {
        return written(HeadWriter.request(alloc, request(browser), Framing.NONE, -1, null));
    }

    /** Less {@link #parseResponse} it is what writing costs. */
    @Benchmark
    public int parseAndWriteResponse() {
        ResponseHead head = parseResponse();
        if (head == null) {
            throw new IllegalStateException("refused");
        }
        out.clear();
        return HeadWriter.response(room, head, Framing.FIXED, head.contentLength(), HeadWriter.Persistence.DEFAULT);
    }

    private static int written(ByteBuf out) {
        int length = out.readableBytes();
        out.release();
        return length;
    }

    @TearDown
    public void release() {
        small.release();
        browser.release();
        response.release();
        out.release();
    }
}
