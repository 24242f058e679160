package dev.gateway.benchmarks;

import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.connect.assembly.ConnectShared;
import dev.gateway.filter.FilterStates;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.runtime.assembly.Assembly;
import dev.gateway.runtime.assembly.Generation;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.commons.codec.digest.Md5Crypt;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.EllipticCurveJsonWebKey;
import org.jose4j.jwk.JsonWebKey.OutputControlLevel;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.lang.JoseException;
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

/**
 * What an exchange costs with one filter of a configuration file, whose rule lets it pass. Credentials are those that were
 * verified before. The difference to {@code none} is the filter.
 */
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init") // the set-up sets the fields
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class FilterBenchmark {
    private static final AsciiString HTTP = new AsciiString("http");
    private static final AsciiString AUTHORITY = new AsciiString("shop.example.test");
    private static final AsciiString PATH = new AsciiString("/api/v1/orders?page=2");

    /** Several: at most a million requests a second may count together. */
    private static final AsciiString[] AGENTS = IntStream.range(0, 8)
            .mapToObj(i -> new AsciiString("Mozilla/5." + i))
            .toArray(AsciiString[]::new);

    private static final String KEY = "kx-5b0c9b0f";
    private static final AsciiString KEY_TEXT = new AsciiString(KEY);
    private static final FieldName API_KEY = FieldName.of("X-API-Key");

    private static final Map<String, String> FILTERS = Map.of(
            "none", "",
            "IPAccess", "{type: IPAccess, ipAccess: {deny: [203.0.113.0/24], allow: [192.0.2.0/24]}}",
            "CORS", "{type: CORS, cors: {allowOrigins: ['https://shop.example']}}",
            "BasicAuth", "{type: BasicAuth, basicAuth: {usersFile: %s/users}}",
            "APIKey", "{type: APIKey, apiKey: {keysFile: %s/keys}}",
            "JWT", "{type: JWT, jwt: {providers: [{issuer: bench, jwksFile: %s/jwks.json}]}}",
            "RateLimit",
                    "{type: RateLimit, rateLimit: {limits: [{requests: 1000000, interval: 1s, key: [{header: User-Agent}]}]}}",
            "BodyLimit", "{type: BodyLimit, bodyLimit: {maxBytes: 1MiB}}",
            "Compression", "{type: Compression, compression: {}}",
            "ErrorPages", "{type: ErrorPages, errorPages: {pages: [{statuses: [5xx], files: [%s/down.html]}]}}");

    @Param({
        "none",
        "IPAccess",
        "CORS",
        "BasicAuth",
        "APIKey",
        "JWT",
        "RateLimit",
        "BodyLimit",
        "Compression",
        "ErrorPages"
    })
    String filter;

    private Path directory;
    private BareExchange exchange;
    private AsciiString credentials;
    private int agent;

    @Setup
    public void start() throws Exception {
        directory = Files.createTempDirectory("filters");
        credentials = writeFiles();
        String yaml =
                """
                listeners: [{name: web, address: 127.0.0.1, port: 8080, protocol: HTTP}]
                routes:
                  - name: shop
                    rules: [{name: all, filters: [%s], backendRefs: [{name: app}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                """
                        .formatted(Objects.requireNonNull(FILTERS.get(filter)).replace("%s", directory.toString()));
        LoadResult result = ConfigLoader.parse(yaml);
        if (!(result instanceof LoadResult.Valid valid)) {
            throw new IllegalStateException(result.problems().toString());
        }
        Generation generation = Assembly.snapshot(
                valid.config(),
                1,
                Map.of("web", 0),
                null,
                new ConnectShared(
                        (location, parsing) -> {
                            throw new IllegalStateException("no keys are fetched");
                        },
                        CacheMemory.UNLIMITED),
                new FilterStates().prepare());
        exchange = new BareExchange(generation);
        exchange.serve(request()); // credentials are known from now on
    }

    private AsciiString writeFiles() throws IOException, GeneralSecurityException, JoseException {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(KEY.getBytes(StandardCharsets.US_ASCII));
        Files.writeString(directory.resolve("keys"), "bench:" + HexFormat.of().formatHex(digest) + "\n");
        Files.writeString(directory.resolve("users"), "bench:" + Md5Crypt.apr1Crypt("password") + "\n");
        Files.writeString(directory.resolve("down.html"), "<p>{{status}}</p>");
        EllipticCurveJsonWebKey key = EcJwkGenerator.generateJwk(EllipticCurves.P256);
        key.setKeyId("k");
        Files.writeString(
                directory.resolve("jwks.json"), "{\"keys\":[" + key.toJson(OutputControlLevel.PUBLIC_ONLY) + "]}");
        JsonWebSignature token = new JsonWebSignature();
        token.setPayload("{\"iss\":\"bench\",\"sub\":\"bench\",\"exp\":4102444800}");
        token.setKey(key.getPrivateKey());
        token.setKeyIdHeaderValue("k");
        token.setAlgorithmHeaderValue("ES256");
        return new AsciiString(
                switch (filter) {
                    case "BasicAuth" -> "Basic YmVuY2g6cGFzc3dvcmQ="; // bench:password
                    case "JWT" -> "Bearer " + token.getCompactSerialization();
                    default -> "";
                });
    }

    private RequestHead request() {
        Fields fields = new Fields();
        agent = agent + 1 < AGENTS.length ? agent + 1 : 0;
        fields.add(FieldName.USER_AGENT, AGENTS[agent]);
        if (filter.equals("APIKey")) {
            fields.add(API_KEY, KEY_TEXT);
        }
        if (!credentials.isEmpty()) {
            fields.add(FieldName.AUTHORIZATION, credentials);
        }
        return new RequestHead(Method.GET, HTTP, AUTHORITY, PATH, fields, 0);
    }

    @Benchmark
    public int exchange() {
        return exchange.serve(request());
    }

    @TearDown
    public void end() throws IOException {
        exchange.close();
        try (var files = Files.list(directory)) {
            for (Path each : files.toList()) {
                Files.delete(each);
            }
        }
        Files.delete(directory);
    }
}
