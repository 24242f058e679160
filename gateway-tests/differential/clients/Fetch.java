import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HexFormat;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The command java Fetch.java: reads lines of a lane, a method and a URL, and writes what the JDK's HttpClient gets of each, as JSON. Each
 * lane has a connection of its own. The client drops trailers.
 */
class Fetch {
    private record Lane(HttpClient client, ExecutorService thread) {}

    public static void main(String[] words) throws IOException {
        Map<String, Lane> lanes = new HashMap<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] asked = line.split(" ");
            Lane lane = lanes.computeIfAbsent(
                    asked[0],
                    name -> new Lane(
                            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build(), Executors.newSingleThreadExecutor()));
            lane.thread().execute(() -> System.out.println(asked[0] + " " + fetch(lane.client(), asked[1], asked[2])));
        }
        System.exit(0);
    }

    private static String fetch(HttpClient client, String method, String url) {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(url)).method(method, BodyPublishers.noBody()).build();
        try {
            HttpResponse<byte[]> response = client.send(request, BodyHandlers.ofByteArray());
            return json(response.statusCode(), HexFormat.of().formatHex(response.body()), "");
        } catch (Exception e) { // a client fails in many ways, and each is a result
            return json(0, "", e.toString());
        }
    }

    private static String json(int status, String body, String error) {
        StringBuilder escaped = new StringBuilder();
        error.chars().forEach(c -> escaped.append(c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : (char) c));
        return "{\"status\":" + status + ",\"body\":\"" + body + "\",\"trailers\":[],\"error\":\"" + escaped + "\"}";
    }
}
