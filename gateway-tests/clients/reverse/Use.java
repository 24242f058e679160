import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The command java Use.java VERSION BASE CA ACTION: uses a server with the JDK's HttpClient, and prints what came of it. */
class Use {
    public static void main(String[] words) throws Exception {
        String base = words[1];
        String action = words[3];
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream in = Files.newInputStream(Path.of(words[2]))) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        for (int tries = Integer.parseInt(System.getenv("USE_TRIES")); tries > 0; tries--) {
            HttpClient client = HttpClient.newBuilder()
                    .sslContext(context)
                    .version(HttpClient.Version.valueOf(words[0]))
                    .build();
            use(client, base, action);
        }
        System.exit(0);
    }

    private static void use(HttpClient client, String base, String action) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(base + "/" + switch (action) {
                    case "again" -> "hello";
                    case "restart" -> "restart/hello";
                    default -> action;
                }));
        String before = "";
        try {
            if (action.equals("login")) {
                request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString("ci:open@sesame/1".getBytes()));
            } else if (action.equals("again")) {
                client.send(HttpRequest.newBuilder(URI.create(base + "/close")).build(), BodyHandlers.ofString());
            } else if (action.equals("restart")) {
                before = download(client, base + "/restart");
            } else if (action.startsWith("up")) {
                request.POST(BodyPublishers.ofByteArray(new byte[Integer.parseInt(System.getenv("USE_SIZE"))]));
            }
            HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
            String body = response.body();
            if (action.equals("stream")) {
                System.out.println(body.lines().filter(line -> !line.isBlank()).count() + " pieces");
            } else {
                String text = body.length() > 1000 ? "" + body.length() : response.statusCode() == 200 ? body.strip() : "";
                System.out.println(
                        before + (response.statusCode() + " " + text.substring(0, Math.min(9, text.length()))).strip());
            }
        } catch (Exception e) {
            System.out.println("error: " + e);
        }
    }

    private static String download(HttpClient client, String uri) throws InterruptedException {
        try {
            client.send(HttpRequest.newBuilder(URI.create(uri)).build(), BodyHandlers.ofString());
            return "whole, ";
        } catch (IOException e) {
            return "cut, ";
        }
    }
}
