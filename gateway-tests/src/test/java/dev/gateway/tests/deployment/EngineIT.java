package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.testcontainers.DockerClientFactory;

/** Where containers are required, an engine that is missing or broken is an error and not a reason to skip. */
public class EngineIT {
    @Test
    void theEngineIsReachableWhereItIsRequired() {
        assumeTrue(isRequired(), "REQUIRE_DOCKER is not true");
        assertThat(DockerClientFactory.instance().isDockerAvailable()).isTrue();
    }

    public static boolean isRequired() {
        return "true".equals(System.getenv("REQUIRE_DOCKER"));
    }
}
