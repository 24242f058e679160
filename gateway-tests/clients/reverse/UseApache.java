import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.http.io.entity.EntityUtils;

/** The command java UseApache.java BASE CA ACTION: uses a server with Apache HttpClient 5, and prints what came of it. */
class UseApache {
    private static final int SIZE = Integer.parseInt(System.getenv("USE_SIZE"));

    public static void main(String[] words) throws Exception {
        SSLContext context = context(words[1]);
        for (int tries = Integer.parseInt(System.getenv("USE_TRIES")); tries > 0; tries--) {
            var connections = PoolingHttpClientConnectionManagerBuilder.create()
                    .setTlsSocketStrategy(new DefaultClientTlsStrategy(context))
                    .build();
            try (CloseableHttpClient client =
                    HttpClients.custom().setConnectionManager(connections).disableAutomaticRetries().build()) {
                System.out.println(use(client, words[0], words[2]));
            } catch (Exception e) {
                System.out.println("error: " + e);
            }
        }
    }

    private static SSLContext context(String ca) throws Exception {
        var store = java.security.KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (var in = java.nio.file.Files.newInputStream(Path.of(ca))) {
            store.setCertificateEntry(
                    "ca", java.security.cert.CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        return org.apache.hc.core5.ssl.SSLContexts.custom().loadTrustMaterial(store, null).build();
    }

    private static String use(CloseableHttpClient client, String base, String action) throws Exception {
        String uri = base + "/" + switch (action) {
            case "again" -> "hello";
            case "restart" -> "restart/hello";
            default -> action;
        };
        String before = "";
        HttpUriRequestBase request = action.startsWith("up") ? new HttpPost(uri) : new HttpGet(uri);
        if (action.equals("login")) {
            String login = Base64.getEncoder().encodeToString("ci:open@sesame/1".getBytes(StandardCharsets.UTF_8));
            request.setHeader("Authorization", "Basic " + login);
        } else if (action.equals("again")) {
            client.execute(new HttpGet(base + "/close"), response -> EntityUtils.toString(response.getEntity()));
        } else if (action.equals("restart")) {
            before = download(client, base + "/restart");
        } else if (action.startsWith("up")) {
            request.setEntity(new ByteArrayEntity(new byte[SIZE], ContentType.APPLICATION_OCTET_STREAM));
        }
        return before + client.execute(request, response -> told(response, action));
    }

    private static String download(CloseableHttpClient client, String uri) {
        try {
            client.execute(new HttpGet(uri), response -> EntityUtils.toString(response.getEntity()));
            return "whole, ";
        } catch (IOException e) {
            return "cut, ";
        }
    }

    private static String told(ClassicHttpResponse response, String action) throws HttpException, IOException {
        String body = response.getEntity() == null ? "" : EntityUtils.toString(response.getEntity());
        if (action.equals("stream")) {
            return body.lines().filter(line -> !line.isBlank()).count() + " pieces";
        }
        String text = body.length() > 1000 ? "" + body.length() : response.getCode() == 200 ? body.strip() : "";
        return (response.getCode() + " " + text.substring(0, Math.min(9, text.length()))).strip();
    }
}
