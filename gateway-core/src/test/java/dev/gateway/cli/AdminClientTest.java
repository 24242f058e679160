package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How commands ask a running gateway. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class AdminClientTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:9901, 127.0.0.1:9901",
        ":9902, 127.0.0.1:9902",
        "http://10.0.0.7:9901, 10.0.0.7:9901",
        "http://gateway.test:9901/dashboard, gateway.test:9901",
        "[::1]:9901, [::1]:9901",
        "unix:/run/gateway/admin.sock, unix:/run/gateway/admin.sock"
    })
    void anAddressMayBeWrittenInTheseWays(String written, String meant) {
        assertThat(new AdminClient(written, null)).hasToString(meant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "gateway", "https://gateway.test:9901", "http://gateway.test", "a b:1", "1:2:3"})
    void whatIsNoAddressIsSaidAsItWasWritten(String written) {
        assertThatThrownBy(() -> new AdminClient(written, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected an address such as 127.0.0.1:9901, not " + written);
    }

    @Test
    void aPageIsAskedForOnAConnectionOfItsOwn() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, "grüße\n"))) {
            AdminClient client = new AdminClient(admin.address(), null);
            assertThat(client.get("/stats?format=json")).isEqualTo(new AdminClient.Answer(200, "grüße\n"));
            assertThat(admin.requests())
                    .containsExactly("GET /stats?format=json HTTP/1.1\r\nHost: " + admin.address()
                            + "\r\nConnection: close\r\n\r\n");
        }
    }

    @Test
    void whoWantsSomethingDoneIsNamed() throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(202, "begun\n"))) {
            AdminClient client = new AdminClient(admin.address(), null);
            assertThat(client.post("/quit", "J\u00f6rg\r\nX: y")).isEqualTo(new AdminClient.Answer(202, "begun\n"));
            assertThat(admin.requests())
                    .containsExactly("POST /quit HTTP/1.1\r\nHost: " + admin.address()
                            + "\r\nConnection: close\r\nContent-Length: 0\r\nX-Requested-By: J?rg??X: y\r\n\r\n");
        }
    }

    @Test
    void aTokenIsReadAnewForEachQuestion() throws Exception {
        Path token = Files.writeString(directory.resolve("token"), "one\n");
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(401, "no\n"))) {
            AdminClient client = new AdminClient(admin.address(), token);
            assertThat(client.get("/config").status()).isEqualTo(401);
            Files.writeString(token, "two");
            client.get("/config");
            assertThat(admin.requests()).hasSize(2);
            assertThat(admin.requests().get(0)).endsWith("\r\nAuthorization: Bearer one\r\n\r\n");
            assertThat(admin.requests().get(1)).endsWith("\r\nAuthorization: Bearer two\r\n\r\n");
        }
    }

    @Test
    void withoutTheFileOfTheTokenNothingIsAsked() throws Exception {
        Path token = directory.resolve("nowhere");
        try (FakeAdmin admin = FakeAdmin.answering(FakeAdmin.http(200, ""))) {
            assertThatThrownBy(() -> new AdminClient(admin.address(), token).get("/config"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(token.toString());
            assertThat(admin.requests()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "SSH-2.0-OpenSSH_9.2\r\n\r\n",
                "HTTP/1.1 200 OK\r\n", // broke off
                "HTTP/1.1 20",
                "HTTP/1.1 2x0 OK\r\n\r\n",
                "HTTP/1.1 2000 OK\r\n\r\n",
                "HTTP/2 200 \r\n\r\n"
            })
    void whatAnswersOtherwiseThanInHttpIsSaidToDoSo(String answer) throws Exception {
        try (FakeAdmin admin = FakeAdmin.answering(answer)) {
            assertThatThrownBy(() -> new AdminClient(admin.address(), null).get("/"))
                    .isInstanceOf(IOException.class)
                    .hasMessage(admin.address() + ": the answer is not HTTP");
        }
    }

    @Test
    void aSocketFileIsAskedInTheSameWay() throws Exception {
        Path file = directory.resolve("admin.sock");
        String body = "x".repeat(100_000) + "\n"; // more than is read at once
        try (FakeAdmin admin = FakeAdmin.answering(file, FakeAdmin.http(200, body))) {
            assertThat(new AdminClient("unix:" + file, null).get("/ready"))
                    .isEqualTo(new AdminClient.Answer(200, body));
            assertThat(admin.requests())
                    .containsExactly("GET /ready HTTP/1.1\r\nHost: localhost:9901\r\nConnection: close\r\n\r\n");
        }
    }

    @Test
    void aSocketFileThatIsNotThereIsNamed() {
        Path file = directory.resolve("admin.sock");
        assertThatThrownBy(() -> new AdminClient("unix:" + file, null).get("/ready"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file + ": ");
    }

    @Test
    void noMoreOfAnAnswerIsReadThanIsWanted() throws Exception {
        Path file = directory.resolve("admin.sock");
        try (FakeAdmin admin = FakeAdmin.answering(file, "x".repeat(50_000))) {
            byte[] question = "hello\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            assertThat(AdminClient.askFile(file, question, 1, 20_000)).hasSizeBetween(1, 16 << 10);
            assertThat(admin.requests()).containsExactly("hello\r\n\r\n");
        }
    }
}
