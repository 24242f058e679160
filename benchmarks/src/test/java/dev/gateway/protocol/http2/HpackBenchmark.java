package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.message.Scheme;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import io.netty.util.AsciiString;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What it costs to make a header block of a head, and a head of a block, on a connection that has seen the like before:
 * what can be is in HPACK's dynamic table.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class HpackBenchmark {
    private static final int STREAM = 1;
    private static final int WARM = 4;

    private final Http2HeadersEncoder encoder =
            new DefaultHttp2HeadersEncoder(Http2HeadersEncoder.NEVER_SENSITIVE, true, 64, 1);
    private final HeadersDecoder decoder = new HeadersDecoder(64 * 1024, 128, true);
    private final SentHeaders sent = new SentHeaders();
    private final ByteBuf block = Unpooled.directBuffer(4096);
    private final ByteBuf out = Unpooled.directBuffer(4096);
    private final RequestHead request = new RequestHead(
            Method.GET,
            new AsciiString("https"),
            new AsciiString("shop.example.test"),
            new AsciiString("/catalogue/lamps?sort=price&page=4"),
            fields(
                    "user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                    "accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                    "accept-language", "en-US,en;q=0.7,de;q=0.3",
                    "accept-encoding", "gzip, deflate, br",
                    "referer", "https://shop.example.test/catalogue/lamps?sort=price&page=3",
                    "cookie", "consent=yes; theme=dark; visit=3f7a3f7a3f7a3f7a3f7a3f7a3f7a3f7a",
                    "cache-control", "no-cache"),
            0);
    private final ResponseHead response = new ResponseHead(
            200,
            null,
            fields(
                    "date", "Fri, 21 Nov 2025 10:00:00 GMT",
                    "content-type", "text/html; charset=utf-8",
                    "content-length", "2000",
                    "cache-control", "private, max-age=0, must-revalidate",
                    "etag", "\"5f2c-61a8e0b3c4d5e\"",
                    "strict-transport-security", "max-age=63072000",
                    "vary", "Accept-Encoding, Cookie"),
            2000);

    private static Fields fields(String... namesAndValues) {
        Fields fields = new Fields();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.add(new AsciiString(namesAndValues[i]), new AsciiString(namesAndValues[i + 1]));
        }
        return fields;
    }

    /** Brings both tables to where they stay; the block left is of references to them. */
    @Setup
    public void fillTables() throws Http2Exception {
        for (int i = 0; i < WARM; i++) {
            block.clear();
            encoder.encodeHeaders(STREAM, sent.request(request, Scheme.HTTPS), block);
            decoder.decodeHeaders(STREAM, block.slice());
            out.clear();
            encoder.encodeHeaders(STREAM, sent.response(response), out);
            decoder.decodeHeaders(STREAM, out.slice());
        }
    }

    @Benchmark
    public int encodeRequest() throws Http2Exception {
        out.clear();
        encoder.encodeHeaders(STREAM, sent.request(request, Scheme.HTTPS), out);
        return out.writerIndex();
    }

    @Benchmark
    public int encodeResponse() throws Http2Exception {
        out.clear();
        encoder.encodeHeaders(STREAM, sent.response(response), out);
        return out.writerIndex();
    }

    @Benchmark
    public RequestHead decodeRequest() throws Http2Exception {
        block.readerIndex(0);
        ReceivedHeaders headers = (ReceivedHeaders) decoder.decodeHeaders(STREAM, block);
        String problem = HeadMapper.requestProblem(headers, true);
        if (problem != null) {
            throw new IllegalStateException(problem);
        }
        return HeadMapper.request(headers, request.scheme(), true);
    }

    @TearDown
    public void release() {
        block.release();
        out.release();
    }
}
