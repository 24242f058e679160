package dev.gateway.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.URISyntaxException;

/**
 * Asks a page of the admin listener whether a gateway is well. A program of its own in an image, where it runs every few
 * seconds beside the gateway and within its memory: so it uses little of the JDK and nothing of the libraries.
 */
final class Healthcheck {
    static final int HEALTHY = 0;
    static final int UNHEALTHY = 1;
    static final String DEFAULT_URL = "http://127.0.0.1:9901/ready";

    private static final int TIMEOUT_MILLIS = 2_000;

    private Healthcheck() {}

    /** Asks the page that is named, or the usual one, and ends the process with the answer. */
    public static void main(String[] args) {
        String url = args.length == 0 ? DEFAULT_URL : args[0];
        String complaint = complaint(url);
        if (!complaint.isEmpty()) {
            PrintStream err = System.err;
            err.print(url);
            err.print(": ");
            err.println(complaint);
        }
        // Nothing has to be tidied up.
        Runtime.getRuntime().halt(complaint.isEmpty() ? HEALTHY : UNHEALTHY);
    }

    /** Returns what the page says if it does not say 200, or why it cannot be asked; nothing if all is well. */
    static String complaint(String url) {
        try {
            if (url.startsWith(AdminClient.UNIX)) {
                return complaint(new AdminClient(url, null).get("/ready"));
            }
            URI page = new URI(url);
            if (!"http".equals(page.getScheme()) || page.getHost() == null) {
                return "expected a URL such as " + DEFAULT_URL;
            }
            String path = page.getRawPath().isEmpty() ? "/" : page.getRawPath();
            String query = page.getRawQuery();
            return complaint(new AdminClient(page, TIMEOUT_MILLIS, null)
                    .get(query == null ? path : String.join("?", path, query)));
        } catch (IOException | URISyntaxException | IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static String complaint(AdminClient.Answer answer) {
        return answer.status() == 200
                ? ""
                : String.join(
                        " ", Integer.toString(answer.status()), answer.body().strip());
    }
}
