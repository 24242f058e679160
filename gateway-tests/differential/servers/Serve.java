import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * The command java Serve.java PORT LENIENT: tells in X-Seen what Jetty reads of each request, as JSON in Base64. The body is the number of
 * the answer. The second port is that of a Jetty which reads ambiguous paths as well, as before version 10.
 */
class Serve {
    private static final AtomicLong ANSWERS = new AtomicLong();

    public static void main(String[] words) throws Exception {
        Server server = new Server();
        connect(server, words[0], UriCompliance.DEFAULT);
        connect(server, words[1], UriCompliance.UNSAFE);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                answer(request, response, callback);
                return true;
            }
        });
        server.start();
        server.join();
    }

    private static void connect(Server server, String port, UriCompliance compliance) {
        HttpConfiguration configuration = new HttpConfiguration();
        configuration.setUriCompliance(compliance);
        ServerConnector connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(configuration));
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(port));
        connector.setIdleTimeout(600_000);
        server.addConnector(connector);
    }

    private static void answer(Request request, Response response, Callback callback) throws Exception {
        byte[] body;
        try (InputStream in = Content.Source.asInputStream(request)) {
            body = in.readAllBytes();
        }
        HttpURI uri = request.getHttpURI();
        Set<String> paths = new LinkedHashSet<>();
        for (String path : new String[] {uri.getPath(), uri.getCanonicalPath(), uri.getDecodedPath(), Request.getPathInContext(request)}) {
            if (path != null) {
                paths.add(raw(path));
            }
        }
        String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
        String seen = "{\"method\":\"" + raw(request.getMethod()) + "\",\"target\":\"" + raw(uri.getPathQuery()) + "\",\"paths\":" + list(paths)
                + ",\"hosts\":" + list(Set.of(raw(Request.getServerName(request)))) + ",\"length\":" + body.length + ",\"hash\":\"" + hash + "\"}";
        String id = Long.toString(ANSWERS.incrementAndGet());
        response.getHeaders().put("X-Id", id);
        response.getHeaders().put("X-Seen", Base64.getEncoder().encodeToString(seen.getBytes(StandardCharsets.US_ASCII)));
        response.getHeaders().put("Content-Length", id.length());
        response.write(true, ByteBuffer.wrap(id.getBytes(StandardCharsets.US_ASCII)), callback);
    }

    private static String raw(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String list(Set<String> texts) {
        return texts.stream().map(text -> '"' + text + '"').collect(Collectors.joining(",", "[", "]"));
    }
}
