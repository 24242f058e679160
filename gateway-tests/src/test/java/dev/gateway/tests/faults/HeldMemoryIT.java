package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.gateway.testing.JarMaker;
import dev.gateway.testing.SigningKey;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Hoarders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What is held is what is charged. Clients read nothing, or an upstream never answers, with each filter that answers or adds
 * something. Then the live heap and the direct memory in use have grown as the accounts have, give or take a fifth.
 */
@Tag("alone")
@Tag("jar")
@Timeout(120)
class HeldMemoryIT {
    private static final long LEAST = 8 << 20;
    private static final long NOISE = 256 * 1024;
    private static final long IDLE = 1 << 20; // an event loop keeps some bytes of its budget ready
    private static final String CHECK = "/envoy.service.auth.v3.Authorization/Check";
    private static final int LARGE = 60_000;

    private static final String REPLY =
            """
            import dev.gateway.filter.*;
            import dev.gateway.message.*;
            import dev.gateway.plugin.*;
            import io.netty.buffer.*;
            import java.util.List;
            public class Reply implements FilterPlugin {
                public String type() { return "Reply"; }
                public String description() { return "Answers with a body of its own each time."; }
                public List<SettingKey<?>> keys() { return List.of(); }
                public FilterPlace place() { return FilterPlace.UPSTREAM; }
                public Filter create(Settings settings) {
                    return new Filter() {
                        public Verdict onRequest(RequestHead head, FilterContext context) {
                            ByteBuf body = Unpooled.wrappedBuffer(new byte[60000]);
                            return new Verdict.Reply(new ResponseHead(200, null, new Fields(), 60000), body);
                        }
                    };
                }
            }
            """;

    private static final String CONFIG =
            """
            workers: 1
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes:
              - rules:
                  - matches: [{path: {value: /access}}]
                    filters: [{type: IPAccess, ipAccess: {allow: [10.0.0.0/8]}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /page}}]
                    filters:
                      - {type: ErrorPages, errorPages: {pages: [{statuses: [4xx], files: [page.html]}]}}
                      - {type: IPAccess, ipAccess: {allow: [10.0.0.0/8]}}
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /cors}}]
                    filters:
                      - {type: CORS, cors: {allowOrigins: ["https://a.test"]}}
                      - {type: DirectResponse, directResponse: {body: small}}
                  - matches: [{path: {value: /basic}}]
                    filters: [{type: BasicAuth, basicAuth: {usersFile: users}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /user}}]
                    filters: [{type: BasicAuth, basicAuth: {usersFile: users}}]
                    backendRefs: [{name: hang}]
                  - matches: [{path: {value: /key}}]
                    filters: [{type: APIKey, apiKey: {keysFile: keys, header: X-Key}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /jwt}}]
                    filters: [{type: JWT, jwt: {providers: [{issuer: "https://id.test", jwksFile: jwks}]}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /claims}}]
                    filters:
                      - type: JWT
                        jwt:
                          providers: [{issuer: "https://id.test", jwksFile: jwks}]
                          claimsToHeaders: [{claim: sub, header: X-User}]
                    backendRefs: [{name: hang}]
                  - matches: [{path: {value: /deny}}]
                    filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, pathPrefix: /, backendRef: {name: auth}}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /allow}}]
                    filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, pathPrefix: /, backendRef: {name: auth}}}]
                    backendRefs: [{name: hang}]
                  - matches: [{path: {value: /grpc-deny}}]
                    filters: [{type: ExternalAuth, externalAuth: {protocol: GRPC, backendRef: {name: refusing}}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /grpc-allow}}]
                    filters: [{type: ExternalAuth, externalAuth: {protocol: GRPC, backendRef: {name: allowing}}}]
                    backendRefs: [{name: hang}]
                  - matches: [{path: {value: /asked}}]
                    filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, pathPrefix: /, timeout: 60s, backendRef: {name: hang}}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /limited}}]
                    filters: [{type: RateLimit, rateLimit: {limits: [{requests: 1, interval: 1h}]}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /too-large}}]
                    filters: [{type: BodyLimit, bodyLimit: {maxBytes: 1}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /direct}}]
                    filters: [{type: DirectResponse, directResponse: {body: TEXT}}]
                  - matches: [{path: {value: /reply}}]
                    filters: [{type: Reply, reply: {}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /add}}]
                    filters:
                      - type: RequestHeaderModifier
                        requestHeaderModifier: {set: [{name: X-More, value: MORE}]}
                      - {type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /MORE}}}
                    backendRefs: [{name: hang}]
                  - matches: [{path: {value: /mirror}}]
                    filters: [{type: RequestMirror, requestMirror: {backendRef: {name: copies}}}]
                    backendRefs: [{name: hang}]
                  - matches: [{path: {value: /fields}}]
                    filters:
                      - type: ResponseHeaderModifier
                        responseHeaderModifier: {set: [{name: X-More, value: MORE}]}
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /app}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /hang}}]
                    backendRefs: [{name: hang}]
            upstreams:
              - {name: app, endpoints: [{host: 127.0.0.1, port: APP}], circuitBreaker: {LIMITS}}
              - {name: auth, endpoints: [{host: 127.0.0.1, port: APP}], circuitBreaker: {LIMITS}}
              - {name: refusing, protocol: h2c, endpoints: [{host: 127.0.0.1, port: REFUSING}], circuitBreaker: {LIMITS}}
              - {name: allowing, protocol: h2c, endpoints: [{host: 127.0.0.1, port: ALLOWING}], circuitBreaker: {LIMITS}}
              - {name: copies, endpoints: [{host: 127.0.0.1, port: HANG}], circuitBreaker: {LIMITS}}
              - name: hang
                endpoints: [{host: 127.0.0.1, port: HANG}]
                circuitBreaker: {maxConnections: 5, maxRequests: 20000, maxPendingRequests: 20000}
                timeouts: {poolAcquire: 5m}
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: off}
            """;

    private static final SigningKey KEY = SigningKey.of("Ed25519", "k");

    @TempDir
    private static Path plugins;

    private static Origin app;
    private static Origin refusing;
    private static Origin allowing;
    private static ServerSocket paused; // the kernel accepts, and nobody answers
    private static GatewayJar gateway;
    private static long requests; // that were sent
    private static long rest = Long.MAX_VALUE - IDLE; // what was held before the last case

    /** One way to make the gateway hold memory. */
    private enum Case {
        REPLIES("/ /access /basic /key /jwt /limited /direct /cors", 56, 200, i -> List.of("origin", "https://a.test")),
        TOO_LARGE("/too-large", 56, 200, "POST", i -> List.of("content-length", "2")),
        PAGE("/page", 40, 200),
        PLUGIN("/reply", 2, 100),
        DENIED("/deny", 2, 100),
        DENIED_BY_GRPC("/grpc-deny", 2, 100),
        ANSWER("/app", 2, 100),
        FIELDS("/fields", 2, 100),
        LONG_ANSWER("/app/long", 1, 100),
        WAITING("/hang", 20, 200),
        USER("/user", 20, 200, i -> List.of("authorization", "Basic YW5uOnNlY3JldA==")),
        ADDED("/add/x", 8, 200),
        CONSENT("/allow", 4, 200),
        CONSENT_BY_GRPC("/grpc-allow", 3, 200),
        ASKED("/asked", 12, 200),
        COPIED("/mirror", 20, 200),
        CLAIMS("/claims", 14, 200, i -> List.of("authorization", "Bearer " + token(i)));

        private final String[] paths;
        private final int connections;
        private final int streams;
        private final String method;
        private final IntFunction<List<String>> fields;

        Case(String path, int connections, int streams) {
            this(path, connections, streams, i -> List.of());
        }

        Case(String path, int connections, int streams, IntFunction<List<String>> fields) {
            this(path, connections, streams, "GET", fields);
        }

        Case(String path, int connections, int streams, String method, IntFunction<List<String>> fields) {
            this.paths = path.split(" ");
            this.connections = connections;
            this.streams = streams;
            this.method = method;
            this.fields = fields;
        }

        void ask(Hoarders hoarders, int most) throws IOException {
            for (int i = 0; i < Math.min(most, connections); i++) {
                int number = i * streams;
                hoarders.streams(
                        Math.min(most, streams), paths[i % paths.length], 0, method, j -> fields.apply(number + j));
            }
        }
    }

    private static String token(int number) {
        return KEY.token(
                "{\"iss\":\"https://id.test\",\"exp\":4000000000,\"sub\":\"" + "u".repeat(400) + number + "\"}");
    }

    /** Returns a field of a message in protocol buffers. */
    private static byte[] field(int number, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write((number << 3) | 2);
        int length = content.size();
        for (; length >= 128; length >>= 7) {
            out.write((length & 127) | 128);
        }
        out.write(length);
        out.writeBytes(content.toByteArray());
        return out.toByteArray();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static Origin.Behavior check(byte[]... fields) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        for (byte[] field : fields) {
            message.writeBytes(field);
        }
        byte[] framed = new byte[5 + message.size()];
        framed[2] = (byte) (message.size() >> 16);
        framed[3] = (byte) (message.size() >> 8);
        framed[4] = (byte) message.size();
        System.arraycopy(message.toByteArray(), 0, framed, 5, message.size());
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "content-type", "application/grpc"), false);
            stream.send(framed, false);
            stream.sendTrailers("grpc-status", "0");
        };
    }

    private static Origin.Behavior body(int status, byte[] body, String... fields) {
        String[] all = Stream.concat(Stream.of(fields), Stream.of("content-length", Integer.toString(body.length)))
                .toArray(String[]::new);
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(status, all), false);
            stream.send(body, true);
        };
    }

    @BeforeAll
    static void start() throws Exception {
        byte[] random = new byte[200_000];
        new Random(1).nextBytes(random);
        String[] cookies = new String[8];
        for (int i = 0; i < cookies.length; i += 2) {
            cookies[i] = "set-cookie";
            cookies[i + 1] = "c" + i + "=" + "y".repeat(3500);
        }
        app = Origin.start()
                .on("/app", body(200, new byte[LARGE]))
                .on("/fields", body(200, new byte[LARGE]))
                .on("/app/long", body(200, random))
                .on("/deny", body(403, new byte[LARGE]))
                .on("/allow", body(200, new byte[] {1}, cookies));
        byte[] denied = field(2, field(1, new byte[] {8, (byte) 0x93, 3}), field(3, ascii("n".repeat(LARGE)))); // 403
        refusing = Origin.start().on(CHECK, check(field(1, new byte[] {8, 7}), denied));
        byte[] added = field(2, field(1, field(1, ascii("x-added")), field(2, ascii("y".repeat(3500)))));
        allowing = Origin.start().on(CHECK, check(field(1), field(3, added, added, added, added)));
        paused = new ServerSocket(0, 4096, InetAddress.getLoopbackAddress());
        JarMaker.plugin(plugins.resolve("reply.jar"), "Reply", REPLY);
        String limits = "maxConnections: 200, maxRequests: 20000, maxPendingRequests: 20000";
        String yaml = CONFIG.replace("TEXT", "x".repeat(30_000))
                .replace("MORE", "m".repeat(4000))
                .replace("LIMITS", limits)
                .replace("APP", Integer.toString(app.port()))
                .replace("REFUSING", Integer.toString(refusing.port()))
                .replace("ALLOWING", Integer.toString(allowing.port()))
                .replace("HANG", Integer.toString(paused.getLocalPort()));
        gateway = GatewayJar.of(yaml)
                .file("page.html", ascii("x".repeat(LARGE / 2) + "{{requestId}}" + "x".repeat(LARGE / 2)))
                .file("users", ascii("ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n")) // secret
                .file("keys", ascii("ann:" + "0".repeat(64) + "\n"))
                .file("jwks", ascii(SigningKey.set(KEY)))
                .file("plugins/reply.jar", Files.readAllBytes(plugins.resolve("reply.jar")))
                .start();
        for (Case each : Case.values()) { // loads classes and fills caches
            try (Hoarders hoarders = new Hoarders(gateway.port("web"))) {
                each.ask(hoarders, 1);
                await(1);
            }
        }
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        app.close();
        refusing.close();
        allowing.close();
        paused.close();
    }

    /** What is held, and what is charged, in bytes. */
    private record Memory(long held, long charged) {
        static Memory now() throws Exception {
            while (true) {
                Use use = Use.settled();
                long heap = gateway.liveHeap();
                if (Math.abs(Use.now().charged - use.charged) < NOISE) {
                    return new Memory(heap + use.direct, use.charged);
                }
            }
        }

        /** Returns how much more is held than before, by how much more is charged. */
        double ratio(Memory before) {
            return (double) (held - before.held) / (charged - before.charged);
        }

        /** Waits until nothing of earlier clients is left: it is free a little after it is charged no more. */
        static Memory atRest() throws Exception {
            Use.await("nothing is charged", use -> use.charged < IDLE && use.direct < IDLE);
            Memory now = now();
            for (int i = 0; i < 20 && now.held > rest + IDLE; i++) {
                now = now();
            }
            rest = now.held;
            return now;
        }
    }

    private record Use(long charged, long direct) {
        static Use now() throws Exception {
            JsonNode stats = gateway.json("/stats?format=json");
            JsonNode overload = stats.get("overload");
            return new Use(
                    overload.get("clientHeapUsedBytes").asLong()
                            + overload.get("waitingBodiesUsedBytes").asLong(),
                    stats.get("memory").get("directHeldBytes").asLong());
        }

        /** Waits until what is used is the same for a while. */
        static Use settled() throws Exception {
            Use last = now();
            for (int same = 0; same < 3; ) {
                LockSupport.parkNanos(50_000_000);
                Use next = now();
                same = next.charged == last.charged && Math.abs(next.direct - last.direct) < NOISE ? same + 1 : 0;
                last = next;
            }
            return last;
        }

        static void await(String what, Predicate<Use> condition) throws IOException {
            gateway.await(what, () -> {
                try {
                    return condition.test(now());
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }
    }

    /** Waits until this number of requests more was answered, or runs. */
    private static void await(int more) throws Exception {
        long wanted = requests + more;
        gateway.await("requests: " + wanted, () -> {
            try {
                JsonNode stats = gateway.json("/stats?format=json");
                long seen = stats.at("/totals/requestsTotal").asLong();
                for (JsonNode loop : stats.get("eventLoops")) {
                    seen += loop.get("exchanges").asLong();
                }
                return seen >= wanted;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        requests = wanted;
    }

    @ParameterizedTest
    @EnumSource
    void whatIsHeldIsCharged(Case each) throws Exception {
        Memory before = Memory.atRest();
        Memory during;
        try (Hoarders hoarders = new Hoarders(gateway.port("web"))) {
            each.ask(hoarders, Integer.MAX_VALUE);
            await(each.connections * each.streams);
            Use.await("8 MiB are charged", use -> use.charged - before.charged > LEAST);
            during = Memory.now();
            // What earlier clients held is free a little after it is charged no more.
            for (int i = 0; i < 20 && !isFair(during.ratio(before)); i++) {
                during = Memory.now();
            }
        }
        assertThat(during.ratio(before))
                .as("before: %s, during: %s", before, during)
                .matches(HeldMemoryIT::isFair);
    }

    private static boolean isFair(double ratio) {
        return ratio >= 0.8 && ratio <= 1.2;
    }
}
