package dev.gateway.tests.support;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.testcontainers.DockerClientFactory;

/**
 * Images of the tests in containers, made of what is on this machine. Without a container engine the test is skipped, or
 * fails where {@code REQUIRE_TOOLS=true}.
 */
public final class Images {
    private static final String GATEWAY = "gateway:local";
    private static final String NGINX = "gateway-test/nginx:local";
    private static final int BUILD_SECONDS = 120;

    private static boolean built;

    private Images() {}

    /** Returns the image of the jar that the build made. The first call in this JVM makes the image. */
    public static synchronized String gateway() throws IOException, InterruptedException {
        requireEngine();
        if (!built) {
            GatewayJar.file(); // skips the test if there is none
            run("../deploy/image/build", "--local", GATEWAY);
            built = true;
        }
        return GATEWAY;
    }

    /** Returns the image of this machine's nginx, which is made if the engine has none. */
    public static String nginx() throws IOException, InterruptedException {
        requireEngine();
        boolean made = !DockerClientFactory.instance()
                .client()
                .listImagesCmd()
                .withFilter("reference", List.of(NGINX))
                .exec()
                .isEmpty();
        if (!made) {
            Tools.find("nginx");
            run("containers/nginx-image");
        }
        return NGINX;
    }

    private static void requireEngine() {
        // Testcontainers looks for an engine in several places, and logs an error if it finds none.
        if (!DockerClientFactory.instance().isDockerAvailable()) {
            Tools.missing("no container engine answers");
        }
    }

    private static void run(String script, String... arguments) throws IOException, InterruptedException {
        Tools.find("docker");
        String file = Path.of(script).toAbsolutePath().toString();
        List<String> command = Stream.concat(
                        Stream.of("env", "JAVA_HOME=" + System.getProperty("java.home"), file), Stream.of(arguments))
                .toList();
        Tools.Result result = Tools.run(BUILD_SECONDS, command);
        if (result.exit() != 0) {
            Assertions.fail(command + " failed: " + result.output());
        }
    }
}
