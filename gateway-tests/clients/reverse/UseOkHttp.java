import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import okhttp3.Credentials;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/** The command java UseOkHttp.java VERSION BASE CA ACTION: uses a server with OkHttp, and prints what came of it. */
class UseOkHttp {
    private static final int SIZE = Integer.parseInt(System.getenv("USE_SIZE"));

    public static void main(String[] words) throws Exception {
        for (int tries = Integer.parseInt(System.getenv("USE_TRIES")); tries > 0; tries--) {
            OkHttpClient client = client(words[0], words[2]);
            try {
                System.out.println(use(client, words[1], words[3]));
            } catch (Exception e) {
                System.out.println("error: " + e);
            }
            client.connectionPool().evictAll();
        }
        System.exit(0);
    }

    private static OkHttpClient client(String version, String ca) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream in = Files.newInputStream(Path.of(ca))) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return new OkHttpClient.Builder()
                .sslSocketFactory(context.getSocketFactory(), (X509TrustManager) trust.getTrustManagers()[0])
                .protocols(version.equals("HTTP_2") ? List.of(Protocol.HTTP_2, Protocol.HTTP_1_1) : List.of(Protocol.HTTP_1_1))
                .readTimeout(60, TimeUnit.SECONDS)
                .writeTimeout(60, TimeUnit.SECONDS)
                .build();
    }

    private static String use(OkHttpClient client, String base, String action) throws Exception {
        Request.Builder request = new Request.Builder().url(base + "/" + switch (action) {
            case "again" -> "hello";
            case "restart" -> "restart/hello";
            default -> action;
        });
        String before = "";
        if (action.equals("login")) {
            request.header("Authorization", Credentials.basic("ci", "open@sesame/1"));
        } else if (action.equals("again")) {
            client.newCall(new Request.Builder().url(base + "/close").build()).execute().close();
        } else if (action.equals("restart")) {
            before = download(client, base + "/restart");
        } else if (action.startsWith("up")) {
            request.post(RequestBody.create(new byte[SIZE]));
        }
        try (Response response = client.newCall(request.build()).execute()) {
            String body = response.body().string();
            if (action.equals("stream")) {
                return body.lines().filter(line -> !line.isBlank()).count() + " pieces";
            }
            String text = body.length() > 1000 ? "" + body.length() : response.code() == 200 ? body.strip() : "";
            return before + (response.code() + " " + text.substring(0, Math.min(9, text.length()))).strip();
        }
    }

    private static String download(OkHttpClient client, String uri) {
        try (Response response = client.newCall(new Request.Builder().url(uri).build()).execute()) {
            response.body().string();
            return "whole, ";
        } catch (IOException e) {
            return "cut, ";
        }
    }
}
