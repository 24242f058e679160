package dev.gateway.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.luben.zstd.ZstdOutputStream;
import dev.gateway.testing.JarMaker;
import dev.gateway.testing.SigningKey;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.BrotliBeginning;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Hoarders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What is held is what is charged. Clients read nothing, or an upstream never answers, with each filter that answers or adds
 * something. Then the live heap and the direct memory in use have grown as the accounts have, give or take a fifth. So has
 * the memory of libraries that compress and decompress.
 */
@Tag("jar")
@Timeout(120)
class HeldMemoryIT {
    private static final long LEAST = 8 << 20;
    private static final long NOISE = 256 * 1024;
    private static final long IDLE = 5 << 18; // an event loop keeps up to 512 KiB of each of two budgets ready
    private static final long COMPRESSORS = 4 << 20; // which an event loop keeps, and their counterparts
    private static final String CHECK = "/envoy.service.auth.v3.Authorization/Check";
    private static final int LARGE = 60_000;
    private static final int STREAMS = 200; // of a connection

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

    private static final String WAITING =
            """
            import dev.gateway.filter.*;
            import dev.gateway.message.*;
            import dev.gateway.plugin.*;
            import java.util.List;
            public class Waiting implements FilterPlugin {
                public String type() { return "Waiting"; }
                public String description() { return "Adds a field, and never answers."; }
                public List<SettingKey<?>> keys() { return List.of(); }
                public FilterPlace place() { return FilterPlace.UPSTREAM; }
                public Filter create(Settings settings) {
                    return new Filter() {
                        public Verdict onRequest(RequestHead head, FilterContext context) {
                            head.fields().add(FieldName.of("X-More"), "m".repeat(4000));
                            return new Verdict.Wait(() -> {});
                        }
                    };
                }
            }
            """;

    private static final String CONFIG =
            """
            workers: 1
            listeners:
              - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
              - name: paged
                address: 127.0.0.1
                port: 0
                protocol: HTTP
                errorPages: {pages: [{statuses: [4xx], files: [page.html]}]}
              - name: secure
                address: 127.0.0.1
                port: 0
                protocol: HTTPS
                tls: {certificateRefs: [SERVER], clientAuth: required, caFile: CLIENTS}
            connect:
              - {parentRefs: [{name: web}], allow: [127.0.0.1], denyPrivate: false, allowedPorts: [HANG]}
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
                  - matches: [{path: {value: /redirect}}]
                    filters:
                      - type: RequestRedirect
                        requestRedirect: {path: {type: ReplaceFullPath, replaceFullPath: /MORE}}
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
                  - matches: [{path: {value: /session}}]
                    backendRefs: [{name: sticky}]
                  - matches: [{path: {value: /waiting}}]
                    filters: [{type: Waiting, waiting: {}}]
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
                  - matches: [{path: {value: /copied}}]
                    filters: [{type: RequestMirror, requestMirror: {backendRef: {name: closed}}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /grown}}]
                    filters: [{type: Decompression, decompression: {}}]
                    backendRefs: [{name: taken}]
                  - matches: [{path: {value: /gzip}}]
                    filters: [{type: Compression, compression: {algorithms: [gzip]}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /br}}]
                    filters: [{type: Compression, compression: {algorithms: [br]}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /br/fastest}}]
                    filters: [{type: Compression, compression: {algorithms: [br], level: 1}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /zstd}}]
                    filters: [{type: Compression, compression: {algorithms: [zstd]}}]
                    backendRefs: [{name: app}]
                  - matches: [{path: {value: /certificate}}]
                    filters: [{type: ClientCertificate, clientCertificate: {}}]
                    backendRefs: [{name: hang}]
                  - matches: [{path: {value: /again}}]
                    retry: {attempts: 2, methods: [POST]}
                    backendRefs: [{name: closed}]
                  - matches: [{path: {value: /closed}}]
                    backendRefs: [{name: closed}]
                  - matches: [{path: {value: /taken}}]
                    backendRefs: [{name: taken}]
                  - matches: [{path: {value: /h2}}]
                    backendRefs: [{name: h2}]
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
              - {name: taken, endpoints: [{host: 127.0.0.1, port: HANG}], circuitBreaker: {LIMITS}}
              - {name: h2, protocol: h2c, endpoints: [{host: 127.0.0.1, port: APP}], circuitBreaker: {LIMITS}}
              - {name: closed, protocol: h2c, endpoints: [{host: 127.0.0.1, port: CLOSED}], circuitBreaker: {LIMITS}}
              - name: sticky
                endpoints: [{host: 127.0.0.1, port: HANG}]
                circuitBreaker: {maxConnections: 5, maxRequests: 20000, maxPendingRequests: 20000}
                timeouts: {poolAcquire: 5m}
                sessionPersistence: {type: Cookie, keyFile: session-keys}
              - name: hang
                endpoints: [{host: 127.0.0.1, port: HANG}]
                circuitBreaker: {maxConnections: 5, maxRequests: 20000, maxPendingRequests: 20000}
                timeouts: {poolAcquire: 5m}
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: off}
            """;

    private static final SigningKey KEY = SigningKey.of("Ed25519", "k");

    @TempDir
    private static Path directory;

    private static Origin app;
    private static Origin refusing;
    private static Origin allowing;
    private static Origin closed; // takes nothing of a body
    private static ServerSocket paused; // the kernel accepts, and nobody answers
    private static SSLContext known; // of a client with a certificate
    private static GatewayJar gateway;
    private static long rest = Long.MAX_VALUE - IDLE; // what was held before the last case
    private static long nativeRest = Long.MAX_VALUE - COMPRESSORS; // the same before the last one with native code

    /** Makes clients ask. */
    private interface Asking {
        /**
         * They ask by some connections.
         *
         * @return how many requests are answered or run then, at least
         */
        int ask(Hoarders hoarders, int connections) throws Exception;
    }

    /** One way to make the gateway hold memory. Of HTTP/2, windows are closed unless said otherwise. */
    private enum Case {
        REPLIES(56, "/ /access /basic /key /jwt /limited /direct /cors", i -> List.of("origin", "https://a.test")),
        TOO_LARGE(56, (hoarders, connections) -> {
            for (int i = 0; i < connections; i++) {
                hoarders.streams(STREAMS, "/too-large", 0, "POST", j -> List.of("content-length", "2"));
            }
            return connections * STREAMS;
        }),
        PAGE(40, "/page"),
        PLUGIN(1, "/reply"),
        DENIED(1, "/deny"),
        DENIED_BY_GRPC(1, "/grpc-deny"),
        ANSWER(1, "/app"),
        FIELDS(1, "/fields"),
        LONG_ANSWER(1, "/app/long"),
        ANSWER_OF_HTTP2(1, "/h2"),
        /** Windows are open, and the connection is not read. */
        UNREAD(10, (hoarders, connections) -> {
            hoarders.send(connections, Hoarders.requests(20, "/app/long", 1 << 20, "GET", i -> List.of()));
            return connections;
        }),
        /** Every refusal has a page. */
        HTTP1_REPLIES(90, (hoarders, connections) -> {
            String[] paths =
                    "/ /access /basic /key /jwt /limited /direct /reply /deny /grpc-deny /app /h2 /fields".split(" ");
            for (int i = 0; i < connections; i++) {
                hoarders.requestsUnread(gateway.port("paged"), 1, paths[i % paths.length], 100);
            }
            return connections;
        }),
        REDIRECTS(150, (hoarders, connections) -> {
            hoarders.requestsUnread(connections, "/redirect", 1500);
            return connections;
        }),
        HTTP1_LONG_ANSWER(30, (hoarders, connections) -> {
            hoarders.requestsUnread(connections, "/app/long");
            return connections;
        }),
        HTTP1_LONG_ANSWER_OF_HTTP2(30, (hoarders, connections) -> {
            hoarders.requestsUnread(connections, "/h2/long");
            return connections;
        }),
        COMPRESSED_BY_GZIP(60, compressed("gzip", "/gzip")),
        COMPRESSED_BY_BROTLI(20, compressed("br", "/br")),
        COMPRESSED_BY_BROTLI_FASTEST(60, compressed("br", "/br/fastest")),
        COMPRESSED_BY_ZSTD(20, compressed("zstd", "/zstd")),
        WAITING(20, "/hang"),
        USER(20, "/user", i -> List.of("authorization", "Basic YW5uOnNlY3JldA==")),
        ADDED(8, "/add/x"),
        CONSENT(4, "/allow"),
        CONSENT_BY_GRPC(3, "/grpc-allow"),
        ASKED(12, "/asked"),
        COPIED(20, "/mirror"),
        CLAIMS(14, "/claims", i -> List.of("authorization", "Bearer " + token(i))),
        CERTIFICATE(20, (hoarders, connections) -> {
            for (int i = 0; i < connections; i++) {
                hoarders.streams(gateway.port("secure"), known, STREAMS, "/certificate");
            }
            return connections * STREAMS;
        }),
        WAITING_PLUGIN(8, "/waiting"),
        SESSION(8, "/session", i -> List.of("cookie", "gateway-session=none; other=" + "y".repeat(4000))),
        ASKED_WITH_BODY(150, (hoarders, connections) -> {
            hoarders.send(connections, post("/asked", 60_000, 0, 60_000));
            return connections;
        }),
        UPLOAD_IN_CHUNKS(30, (hoarders, connections) -> {
            hoarders.send(connections, post("/taken", 4_000_000, 8192, 0));
            return connections;
        }),
        UPLOAD_BY_HTTP2(2, (hoarders, connections) -> {
            hoarders.send(connections, Hoarders.uploads(60, "/closed", 60_000, 16_384));
            return connections;
        }),
        KEPT_FOR_RETRY(200, (hoarders, connections) -> {
            hoarders.send(connections, post("/again", 50_000, 0, 60_000));
            return connections;
        }),
        COPY_OF_BODY(150, (hoarders, connections) -> {
            hoarders.send(connections, post("/copied", 100_000, 0, 200_000));
            return connections;
        }),
        DECOMPRESSED(200, decompressed("gzip", () -> half(GZIPOutputStream::new))),
        DECOMPRESSED_FROM_BROTLI(10, decompressed("br", BrotliBeginning::mostPrefixCodes)),
        DECOMPRESSED_FROM_ZSTD(30, decompressed("zstd", () -> half(ZstdOutputStream::new))),
        TUNNEL(30, (hoarders, connections) -> {
            String target = "127.0.0.1:" + paused.getLocalPort();
            byte[] head = ascii("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
            hoarders.send(connections, join(head, new byte[4_000_000]));
            return connections;
        });

        private final int connections;
        private final Asking asking;

        /** Whether a library holds memory of its own, which is neither in the heap nor in buffers. */
        boolean isNative() {
            return name().contains("COMPRESSED");
        }

        Case(int connections, Asking asking) {
            this.connections = connections;
            this.asking = asking;
        }

        Case(int connections, String paths) {
            this(connections, paths, i -> List.of());
        }

        Case(int connections, String paths, IntFunction<List<String>> fields) {
            this(connections, (hoarders, some) -> {
                String[] all = paths.split(" ");
                for (int i = 0; i < some; i++) {
                    int number = i * STREAMS;
                    hoarders.streams(STREAMS, all[i % all.length], 0, "GET", j -> fields.apply(number + j));
                }
                return some * STREAMS;
            });
        }
    }

    private static byte[] post(String path, int sent, int chunk, int announced) {
        byte[] head = ascii("POST " + path + " HTTP/1.1\r\nHost: x\r\n"
                + (chunk == 0 ? "Content-Length: " + announced : "Transfer-Encoding: chunked") + "\r\n\r\n");
        return join(
                head,
                chunk == 0
                        ? new byte[sent]
                        : ascii((Integer.toHexString(chunk) + "\r\n" + "x".repeat(chunk) + "\r\n")
                                .repeat(sent / chunk)));
    }

    private static byte[] random(int length) {
        byte[] random = new byte[length];
        new Random(1).nextBytes(random);
        return random;
    }

    private static Asking compressed(String coding, String path) {
        byte[] request = ascii("GET " + path + " HTTP/1.1\r\nHost: x\r\nAccept-Encoding: " + coding + "\r\n\r\n");
        return (hoarders, connections) -> {
            hoarders.send(connections, request);
            return connections;
        };
    }

    private static Asking decompressed(String coding, Callable<byte[]> begin) {
        return (hoarders, connections) -> {
            byte[] head = ascii("POST /grown HTTP/1.1\r\nHost: x\r\nContent-Encoding: " + coding
                    + "\r\nContent-Length: 40000\r\n\r\n");
            hoarders.send(connections, join(head, begin.call()));
            return connections;
        };
    }

    /** Makes a stream that compresses. */
    private interface Compressing {
        OutputStream to(OutputStream out) throws IOException;
    }

    /** Returns the first half of a compressed body, which does not become smaller. */
    private static byte[] half(Compressing compressing) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream zip = compressing.to(out)) {
            zip.write(random(40_000));
        }
        return Arrays.copyOf(out.toByteArray(), 20_000);
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
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

    private static void untilStopped() {
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
        }
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
        byte[] random = random(4_000_000);
        String[] cookies = new String[8];
        for (int i = 0; i < cookies.length; i += 2) {
            cookies[i] = "set-cookie";
            cookies[i + 1] = "c" + i + "=" + "y".repeat(3500);
        }
        Origin.Behavior text = body(200, random, "content-type", "text/plain");
        app = Origin.start()
                .on("/app", body(200, new byte[LARGE]))
                .on("/fields", body(200, new byte[LARGE]))
                .on("/app/long", body(200, random))
                .on("/h2", body(200, new byte[LARGE]))
                .on("/h2/long", body(200, random))
                .on("/gzip", text)
                .on("/br", text)
                .on("/br/fastest", text)
                .on("/zstd", text)
                .on("/copied", (stream, head) -> stream.receiveBody())
                .on("/deny", body(403, new byte[LARGE]))
                .on("/allow", body(200, new byte[] {1}, cookies));
        byte[] denied = field(2, field(1, new byte[] {8, (byte) 0x93, 3}), field(3, ascii("n".repeat(LARGE)))); // 403
        refusing = Origin.start().on(CHECK, check(field(1, new byte[] {8, 7}), denied));
        byte[] added = field(2, field(1, field(1, ascii("x-added")), field(2, ascii("y".repeat(3500)))));
        allowing = Origin.start().on(CHECK, check(field(1), field(3, added, added, added, added)));
        closed = Origin.start(4, 0).otherwise((stream, head) -> untilStopped()); // INITIAL_WINDOW_SIZE
        paused = new ServerSocket();
        paused.setReceiveBufferSize(4096);
        paused.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4096);
        CertificateAuthority servers = new CertificateAuthority("Servers", directory);
        CertificateAuthority clients = new CertificateAuthority("Clients", directory);
        known = servers.client(clients.issue("ann"));
        JarMaker.plugin(directory.resolve("reply.jar"), "Reply", REPLY);
        JarMaker.plugin(directory.resolve("waiting.jar"), "Waiting", WAITING);
        String limits = "maxConnections: 2000, maxRequests: 20000, maxPendingRequests: 20000";
        String yaml = CONFIG.replace("TEXT", "x".repeat(30_000))
                .replace("MORE", "m".repeat(4000))
                .replace("LIMITS", limits)
                .replace("APP", Integer.toString(app.port()))
                .replace("REFUSING", Integer.toString(refusing.port()))
                .replace("CLOSED", Integer.toString(closed.port()))
                .replace("SERVER", servers.issue("localhost").ref())
                .replace("CLIENTS", clients.file().toString())
                .replace("ALLOWING", Integer.toString(allowing.port()))
                .replace("HANG", Integer.toString(paused.getLocalPort()));
        gateway = GatewayJar.of(yaml)
                .jvm(GatewayJar.TRACKS_ITS_MEMORY)
                .file("page.html", ascii("x".repeat(LARGE / 2) + "{{requestId}}" + "x".repeat(LARGE / 2)))
                .file("users", ascii("ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n")) // secret
                .file("keys", ascii("ann:" + "0".repeat(64) + "\n"))
                .file("session-keys", ascii("c2Vzc2lvbiBrZXlzIGFyZSAzMiBieXRlcyBsb25nLi4=\n"))
                .file("jwks", ascii(SigningKey.set(KEY)))
                .file("plugins/reply.jar", Files.readAllBytes(directory.resolve("reply.jar")))
                .file("plugins/waiting.jar", Files.readAllBytes(directory.resolve("waiting.jar")))
                .start();
        for (Case each : Case.values()) { // loads classes and fills caches
            try (Hoarders hoarders = new Hoarders(gateway.port("web"))) {
                Use.await("nothing is charged", Use::isIdle);
                long before = requests();
                each.asking.ask(hoarders, 1);
                await(before + 1);
            }
        }
    }

    @AfterAll
    static void stop() throws IOException {
        gateway.close();
        app.close();
        refusing.close();
        allowing.close();
        closed.close();
        paused.close();
    }

    /** What is held, and what is charged, in bytes. */
    private record Memory(long held, long charged) {
        static Memory now(Case of) throws Exception {
            while (true) {
                Use use = Use.settled();
                long heap = gateway.liveHeap() + (of.isNative() ? use.natives() : 0);
                Use after = Use.now();
                boolean trimmed = of.isNative() && after.pool != use.pool; // between two of the figures
                if (!trimmed && Math.abs(after.charged - use.charged) < NOISE) {
                    return new Memory(heap + use.direct, use.charged);
                }
            }
        }

        /** Returns how much more is held than before, by how much more is charged. */
        double ratio(Memory before) {
            return (double) (held - before.held) / (charged - before.charged);
        }

        /** Waits until nothing of earlier clients is left: it is free a little after it is charged no more. */
        static Memory atRest(Case next) throws Exception {
            Use.await("nothing is charged", use -> use.isIdle() && use.direct < IDLE);
            long most = next.isNative() ? nativeRest + COMPRESSORS : rest + IDLE;
            Memory now = now(next);
            for (int i = 0; i < 20 && now.held > most; i++) {
                now = now(next);
            }
            if (next.isNative()) {
                nativeRest = now.held;
            } else {
                rest = now.held;
            }
            return now;
        }
    }

    /**
     * What is used.
     *
     * @param remembered what of that is charged for logins, which stay when clients go
     * @param pool what Netty has of the C library for direct memory
     */
    private record Use(long charged, long remembered, long direct, long pool) {
        static Use now() throws Exception {
            JsonNode stats = gateway.json("/stats?format=json");
            JsonNode overload = stats.get("overload");
            return new Use(
                    overload.get("clientHeapUsedBytes").asLong()
                            + overload.get("waitingBodiesUsedBytes").asLong(),
                    overload.get("cachesUsedBytes").asLong(),
                    stats.at("/memory/directHeldBytes").asLong(),
                    stats.at("/memory/directUsedBytes").asLong());
        }

        /** Whether no client is charged for anything. */
        boolean isIdle() {
            return charged - remembered < IDLE;
        }

        /** Returns what native code has. */
        long natives() throws Exception {
            return gateway.nativeHeap() - pool;
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

    /** Returns how many requests were answered, or run. */
    private static long requests() throws Exception {
        JsonNode stats = gateway.json("/stats?format=json");
        long seen = stats.at("/totals/requestsTotal").asLong();
        for (JsonNode loop : stats.get("eventLoops")) {
            seen += loop.get("exchanges").asLong();
        }
        return seen;
    }

    private static void await(long wanted) throws IOException {
        gateway.await("requests: " + wanted, () -> {
            try {
                return requests() >= wanted;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void whatIsHeldIsCharged(Case each) throws Exception {
        Memory before = Memory.atRest(each);
        Memory during;
        long earlier = requests();
        try (Hoarders hoarders = new Hoarders(gateway.port("web"))) {
            await(earlier + each.asking.ask(hoarders, each.connections));
            Use.await("8 MiB are charged", use -> use.charged - before.charged > LEAST);
            during = Memory.now(each);
            // What earlier clients held is free a little after it is charged no more.
            for (int i = 0; i < 20 && !isFair(during.ratio(before)); i++) {
                during = Memory.now(each);
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
