package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CountingRelay;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.RedisServer;
import dev.gateway.tests.support.Rig;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Gateways with a store in Redis count together, and each by itself while Redis does not answer. */
class SharedRateLimitIT {
    private static Rig rig(Origin origin, Pairing pairing, String store, String limit) throws IOException {
        return Rig.to(origin, pairing)
                .top("stores: [{name: shared, " + store + "}]")
                .rule("filters: [{type: RateLimit, rateLimit: {limits: [{store: shared, " + limit + "}]}}]")
                .start();
    }

    private static String at(RedisServer redis) {
        return "redis: \"redis://127.0.0.1:" + redis.port() + "\"";
    }

    private static Head ask(Peer client, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", fields), true);
        Head response = stream.receiveFinal();
        stream.receiveBody();
        return response;
    }

    private static Origin origin() throws IOException {
        return Origin.start().on("/", Behaviors.text("hello"));
    }

    private static void awaitUp(Rig... rigs) throws IOException, InterruptedException {
        for (Rig rig : rigs) {
            rig.awaitMetric(1, "gateway_ratelimit_store_up", "store=\"shared\"");
        }
    }

    private static void awaitDown(Rig rig) throws IOException, InterruptedException {
        rig.awaitMetric(0, "gateway_ratelimit_store_up", "store=\"shared\"");
    }

    @ParameterizedTest
    @EnumSource
    void gatewaysCountTogether(Pairing pairing) throws Exception {
        String limit = "name: mine, requests: 3, interval: 1h, key: [{header: X-User}, {client: true}]";
        try (RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig one = rig(origin, pairing, at(redis) + ", timeout: 10s", limit);
                Rig other = rig(origin, pairing, at(redis) + ", timeout: 10s", limit);
                Peer first = one.connect(pairing);
                Peer second = other.connect(pairing)) {
            awaitUp(one, other);
            assertThat(ask(first, "x-user", "a").get("ratelimit").orElse("")).matches("\"mine\";r=2;t=1(200|199)");
            assertThat(ask(second, "x-user", "a").get("ratelimit").orElse("")).startsWith("\"mine\";r=1;t=2");
            assertThat(ask(first, "x-user", "a").get("ratelimit").orElse("")).startsWith("\"mine\";r=0;t=3");
            for (Peer client : new Peer[] {first, second, first, second}) {
                Head refused = ask(client, "x-user", "a");
                assertThat(refused.status()).isEqualTo(429);
                String seconds = refused.get("retry-after").orElse("");
                assertThat(seconds).matches("1[12]\\d\\d");
                assertThat(refused.all("ratelimit")).containsExactly("\"mine\";r=0;t=" + seconds);
            }
            assertThat(ask(second, "x-user", "b").status()).isEqualTo(200);
            one.awaitMetric(2, "gateway_ratelimit_store_decisions_total", "store=\"shared\"", "result=\"allowed\"");
            one.awaitMetric(2, "gateway_ratelimit_store_decisions_total", "store=\"shared\"", "result=\"denied\"");
            one.awaitMetric(2, "gateway_ratelimit_decisions_total", "limit=\"mine\"", "decision=\"denied\"");
            // That the bucket is empty, Redis has said with the last request that it let pass.
            one.awaitMetric(2, "gateway_ratelimit_store_duration_seconds_count", "store=\"shared\"");
            assertThat(one.admin("/explain?path=/"))
                    .contains("mine allows 3 requests in 1h, counted for each header X-User and client, "
                            + "by all gateways in store shared");
            assertThat(redis.command("KEYS", "*").lines().sorted())
                    .hasSize(2)
                    .allMatch(key -> key.matches("gateway:all:mine:[0-9a-f]{32}"));
        }
    }

    /** Redis refuses a user each command that its list lacks, also inside a script. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aUserWithTheRightsOfThePageIsEnough(int database) throws Exception {
        String page = Files.readString(Path.of("../docs/filters.md"));
        Matcher shown = Pattern.compile("(?m)^ACL SETUSER .*>PASSWORD .*$").matcher(page);
        assertThat(shown.find()).isTrue();
        try (RedisServer redis = RedisServer.start();
                Origin origin = origin()) {
            redis.command(shown.group().replace("PASSWORD", "secret").split(" "));
            String url = "redis: \"redis://gateway:secret@127.0.0.1:" + redis.port() + "/" + database + "\"";
            try (Rig rig = rig(origin, Pairing.H1_TO_H1, url + ", timeout: 10s", "requests: 3, interval: 1h");
                    Peer client = rig.connect(Pairing.H1_TO_H1)) {
                awaitUp(rig);
                assertThat(ask(client).status()).isEqualTo(200);
                rig.awaitMetric(1, "gateway_ratelimit_store_decisions_total", "store=\"shared\"", "result=\"allowed\"");
                // The count is in this database. So is a probe's key, until it expires.
                assertThat(redis.command("-n", "" + database, "DBSIZE")).isNotEqualTo("0");
                assertThat(redis.command("-n", "" + (1 - database), "DBSIZE")).isEqualTo("0");
            }
        }
    }

    @CrossPairingTest
    void eachGatewayDecidesByItselfUntilAStoreThatWasKilledIsBack(Pairing pairing) throws Exception {
        String limit = "requests: 3, interval: 1h, key: [{header: X-User}]";
        try (RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig rig = rig(origin, pairing, at(redis) + ", timeout: 10s", limit);
                Peer client = rig.connect(pairing)) {
            awaitUp(rig);
            assertThat(ask(client, "x-user", "a").status()).isEqualTo(200);
            redis.kill();
            awaitDown(rig);
            assertThat(ask(client, "x-user", "a").status())
                    .as("the gateway knows of the first one")
                    .isEqualTo(200);
            assertThat(ask(client, "x-user", "a").status()).isEqualTo(200);
            Head refused = ask(client, "x-user", "a");
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.get("retry-after").orElse("")).matches("1[12]\\d\\d");
            rig.awaitMetric(3, "gateway_ratelimit_store_decisions_total", "result=\"undecided\"");

            redis.restart(); // without what it knew, the script included
            awaitUp(rig);
            assertThat(ask(client, "x-user", "a").status())
                    .as("the gateway still knows")
                    .isEqualTo(429);
            assertThat(ask(client, "x-user", "b").get("ratelimit").orElse("")).startsWith("\"default\";r=2;");
            rig.awaitMetric(2, "gateway_ratelimit_store_decisions_total", "result=\"allowed\"");
        }
    }

    @CrossPairingTest
    void aStoreThatHangsDelaysNobodyTwice(Pairing pairing) throws Exception {
        try (RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig rig =
                        rig(origin, pairing, at(redis) + ", onError: deny", "requests: 1000, interval: 1h, burst: 50");
                Peer client = rig.connect(pairing)) {
            awaitUp(rig);
            redis.pause();
            for (int i = 0; i < 20; i++) {
                Head refused = ask(client);
                assertThat(refused.status()).isEqualTo(429);
                assertThat(refused.all("retry-after")).containsExactly("1");
            }
            assertThat(rig.awaitAccessLog(20).get(19))
                    .contains("\"cause\":\"rate_limited\"", "store shared does not answer");
            awaitDown(rig);
            redis.resume();
            awaitUp(rig);
            assertThat(ask(client).status()).isEqualTo(200);
        }
    }

    @Test
    void withoutAStoreThatAnswersRequestsMayAllPass() throws Exception {
        try (RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig rig = rig(origin, Pairing.H1_TO_H1, at(redis) + ", onError: allow", "requests: 1, interval: 1h");
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            awaitUp(rig);
            redis.kill();
            awaitDown(rig);
            for (int i = 0; i < 5; i++) {
                Head answer = ask(client);
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.all("ratelimit")).containsExactly("\"default\";r=1");
            }
        }
    }

    @Test
    void aPasswordFileTakesEffectWithoutAReload(@TempDir Path directory) throws Exception {
        Path password = Files.writeString(directory.resolve("password"), "wrong-secret\n");
        try (RedisServer redis = RedisServer.start("--requirepass", "right-secret");
                Origin origin = origin();
                Rig rig = rig(
                        origin,
                        Pairing.H1_TO_H1,
                        at(redis) + ", timeout: 10s, passwordFile: \"" + password + "\"",
                        "requests: 2, interval: 1h");
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertThat(ask(client).status()).isEqualTo(200); // decided here, and counted by the gateway's own bucket
            awaitDown(rig);
            Files.writeString(password, "right-secret\n");
            awaitUp(rig);
            assertThat(ask(client).status()).isEqualTo(200);
            assertThat(ask(client).status()).isEqualTo(429);
            assertThat(rig.admin("/config")).doesNotContain("right-secret", "wrong-secret");
        }
    }

    @Test
    void aPasswordFileIsStillFollowedAfterAReload(@TempDir Path directory) throws Exception {
        Path password = Files.writeString(directory.resolve("password"), "former-secret\n");
        try (RedisServer redis = RedisServer.start("--requirepass", "next-secret");
                Origin origin = origin();
                Rig rig = rig(
                        origin,
                        Pairing.H1_TO_H1,
                        at(redis) + ", timeout: 10s, passwordFile: \"" + password + "\"",
                        "requests: 1, interval: 1h")) {
            awaitDown(rig);
            rig.reload(Files.readString(rig.file()).replace("requests: 1", "requests: 2"));
            Files.writeString(password, "next-secret\n");
            awaitUp(rig);
        }
    }

    @Test
    void aPasswordIsUtf8(@TempDir Path directory) throws Exception {
        Path password = Files.writeString(directory.resolve("password"), "p\u00e4ssw\u20acrd\n");
        Path settings = Files.writeString(directory.resolve("redis.conf"), "requirepass p\u00e4ssw\u20acrd\n");
        try (RedisServer redis = RedisServer.start("--include", settings.toString());
                Origin origin = origin();
                Rig rig = rig(
                        origin,
                        Pairing.H1_TO_H1,
                        at(redis) + ", timeout: 10s, passwordFile: \"" + password + "\"",
                        "requests: 1, interval: 1h")) {
            awaitUp(rig);
        }
    }

    @Test
    void passwordsOfUrlsAreNotShown() throws Exception {
        try (RedisServer redis = RedisServer.start("--user", "gate", "on", ">p@ss", "~gateway:*", "+@all");
                Origin origin = origin();
                Rig rig = rig(
                        origin,
                        Pairing.H1_TO_H1,
                        "redis: \"redis://gate:p%40ss@127.0.0.1:" + redis.port() + "/3\", timeout: 10s",
                        "requests: 1, interval: 1h")) {
            awaitUp(rig);
            assertThat(rig.admin("/config"))
                    .contains("redis://gate:<masked>@127.0.0.1:" + redis.port() + "/3")
                    .doesNotContain("p@ss", "p%40ss");
        }
    }

    @Test
    void aStoreIsReachedByTlsIfItsCertificateIsRight(@TempDir Path directory) throws Exception {
        X509Bundle identity = identity("localhost");
        Path certificate = Files.writeString(directory.resolve("cert.pem"), identity.getCertificatePEM());
        Path key = Files.writeString(directory.resolve("key.pem"), identity.getPrivateKeyPEM());
        Path other = Files.writeString(
                directory.resolve("other.pem"), identity("localhost").getCertificatePEM());
        try (RedisServer redis = RedisServer.startTls(certificate, key);
                Origin origin = origin();
                Rig rig = rig(
                        origin,
                        Pairing.H2_TO_H1,
                        "redis: \"rediss://localhost:" + redis.port() + "\", timeout: 10s, caFile: \"" + other + "\"",
                        "requests: 2, interval: 1h");
                Peer client = rig.connect(Pairing.H2_TO_H1)) {
            assertThat(ask(client).status()).isEqualTo(200); // decided here, and counted by the gateway's own bucket
            awaitDown(rig);
            rig.reload(Files.readString(rig.file()).replace("other.pem", "cert.pem"));
            awaitUp(rig);
            assertThat(ask(client).status()).isEqualTo(200);
            assertThat(ask(client).status()).isEqualTo(429);
        }
    }

    private static X509Bundle identity(String name) throws Exception {
        return new CertificateBuilder()
                .ecp256()
                .setIsCertificateAuthority(true)
                .subject("CN=" + name)
                .addSanDnsName(name)
                .buildSelfSigned();
    }

    @CrossPairingTest
    void aReloadKeepsTheConnectionsOfAStoreUntilItsUrlChanges(Pairing pairing) throws Exception {
        try (RedisServer redis = RedisServer.start();
                RedisServer next = RedisServer.start();
                Origin origin = origin();
                Rig rig = rig(origin, pairing, at(redis) + ", timeout: 10s", "requests: 2, interval: 1h");
                Peer client = rig.connect(pairing)) {
            awaitUp(rig);
            assertThat(ask(client).status()).isEqualTo(200);
            String before = connections(redis);
            rig.reload(Files.readString(rig.file()).replace("requests: 2", "requests: 3"));
            assertThat(ask(client).get("ratelimit").orElse("")).startsWith("\"default\";r=1;");
            assertThat(connections(redis)).isEqualTo(before).isNotEmpty();

            rig.reload(Files.readString(rig.file()).replace(":" + redis.port(), ":" + next.port()));
            awaitUp(rig);
            assertThat(ask(client).get("ratelimit").orElse("")).startsWith("\"default\";r=2;");
            rig.awaitMetric(3, "gateway_ratelimit_store_decisions_total", "result=\"allowed\"");
            while (!connections(redis)
                    .isEmpty()) { // until the former generation has ended; the test's time limit ends this
                LockSupport.parkNanos(5_000_000);
            }
        }
    }

    /** Such as a WebSocket that is open for days: it asks no store. */
    @Test
    void aFormerStoreIsClosedThoughAnExchangeOfItsGenerationGoesOn() throws Exception {
        try (RedisServer redis = RedisServer.start();
                RedisServer next = RedisServer.start();
                Origin origin = Origin.start().on("/", Behaviors.echo());
                Rig rig = rig(origin, Pairing.H1_TO_H1, at(redis) + ", timeout: 10s", "requests: 2, interval: 1h");
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            awaitUp(rig);
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "transfer-encoding", "chunked"), false);
            stream.send("one ", false);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            rig.reload(Files.readString(rig.file()).replace(":" + redis.port(), ":" + next.port()));
            awaitUp(rig);
            while (!connections(redis).isEmpty()) { // the test's time limit ends this
                LockSupport.parkNanos(5_000_000);
            }
            stream.send("two", true);
            assertThat(stream.receiveBody()).isEqualTo("one two");
        }
    }

    @Test
    void theFirstRequestsAfterTheStartAndAfterAReloadFindConnectionsOfTheStore() throws Exception {
        try (RedisServer redis = RedisServer.start();
                CountingRelay slow = new CountingRelay(redis.port());
                Origin origin = origin()) {
            slow.delay(
                    1_200); // longer than the timeout: a question that waits for the connection has no answer in time
            String store = "redis: \"redis://127.0.0.1:" + slow.port() + "\", timeout: 700ms, onError: deny";
            try (Rig rig = rig(origin, Pairing.H1_TO_H1, store, "requests: 3, interval: 1h");
                    Peer client = rig.connect(Pairing.H1_TO_H1)) {
                assertThat(ask(client).status()).isEqualTo(200);
                rig.reload(Files.readString(rig.file()).replace("700ms", "800ms"));
                Head answer = ask(client);
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.get("ratelimit").orElse("")).startsWith("\"default\";r=1;");
            }
        }
    }

    /** DNS has given the former address for an hour. */
    @Test
    void aStoreThatMovesIsFoundAgain() throws Exception {
        try (NameServer names = new NameServer().holdFor(3600).has("redis.test", List.of("127.0.9.1"));
                RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .top(
                                """
                                stores: [{name: shared, redis: "redis://redis.test:%d", timeout: 10s}]
                                resolver: {nameServers: ["127.0.0.1:%d"], maxTtl: 1h}"""
                                        .formatted(redis.port(), names.port()))
                        .rule(
                                "filters: [{type: RateLimit, rateLimit: {limits: [{store: shared, requests: 2, interval: 1h}]}}]")
                        .start()) {
            while (names.answered() < 2) { // for IPv4 and IPv6; the test's timeout ends this
                LockSupport.parkNanos(1_000_000);
            }
            awaitDown(rig);
            names.has("redis.test", List.of("127.0.0.1"));
            awaitUp(rig);
        }
    }

    @Test
    void theLastAddressOfAStoreIsUsedWhileDnsFails() throws Exception {
        try (NameServer names = new NameServer().has("redis.test", List.of("127.0.0.1"));
                RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .top(
                                """
                                stores: [{name: shared, redis: "redis://redis.test:%d", timeout: 10s}]
                                resolver: {nameServers: ["127.0.0.1:%d"]}"""
                                        .formatted(redis.port(), names.port()))
                        .rule(
                                "filters: [{type: RateLimit, rateLimit: {limits: [{store: shared, requests: 2, interval: 1h}]}}]")
                        .start();
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            awaitUp(rig);
            names.be(NameServer.Mood.SERVER_FAILURE);
            redis.kill();
            awaitDown(rig);
            rig.awaitMetric(1, "gateway_dns_stale_names");
            redis.restart();
            awaitUp(rig);
            assertThat(ask(client).get("ratelimit").orElse("")).startsWith("\"default\";r=1;");
            rig.awaitMetric(1, "gateway_ratelimit_store_decisions_total", "result=\"allowed\"");
            rig.awaitMetric(1, "gateway_dns_stale_names");
        }
    }

    @Test
    void aStoreThatDoesNotWriteIsNotAskedUntilItDoes() throws Exception {
        try (RedisServer redis = RedisServer.start("--replicaof", "127.0.0.1", "1");
                Origin origin = origin();
                Rig rig = rig(origin, Pairing.H1_TO_H1, at(redis) + ", timeout: 10s", "requests: 2, interval: 1h");
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertThat(ask(client).status()).isEqualTo(200); // decided here, and counted by the gateway's own bucket
            rig.awaitMetric(1, "gateway_ratelimit_store_decisions_total", "result=\"undecided\"");
            awaitDown(rig);
            redis.command("REPLICAOF", "NO", "ONE");
            awaitUp(rig);
            assertThat(ask(client).status()).isEqualTo(200);
            assertThat(ask(client).status()).isEqualTo(429);
        }
    }

    @Test
    void whatAnotherProgramWroteAtOneKeyFailsThatKeyOnly() throws Exception {
        String limit = "name: mine, requests: 2, interval: 1h, key: [{header: X-User}]";
        try (RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig rig = rig(origin, Pairing.H1_TO_H1, at(redis) + ", timeout: 10s", limit);
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            awaitUp(rig);
            String before = connections(redis);
            double undecided = 0;
            for (String value : new String[] {"list", "text"}) {
                assertThat(ask(client, "x-user", value).status()).isEqualTo(200);
                String key = redis.command("KEYS", "*:mine:*");
                redis.command("DEL", key);
                redis.command(value.equals("list") ? "LPUSH" : "SET", key, "something");
                assertThat(ask(client, "x-user", value).status()).isEqualTo(200);
                rig.awaitMetric(++undecided, "gateway_ratelimit_store_decisions_total", "result=\"undecided\"");
                redis.command("DEL", key);
            }
            assertThat(connections(redis)).isEqualTo(before).isNotEmpty();
        }
    }

    @Test
    void anEmptyBucketFillsAlthoughTheClockOfRedisHasSteppedBack() throws Exception {
        try (RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig rig = rig(
                        origin,
                        Pairing.H1_TO_H1,
                        at(redis) + ", timeout: 10s, onError: deny",
                        "requests: 1, interval: 1h");
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            awaitUp(rig);
            assertThat(ask(client).status()).isEqualTo(200);
            String key = redis.command("KEYS", "gateway:all:*");
            String[] bucket = redis.command("GET", key).split(" ");
            long later = Long.parseLong(bucket[1]) + 3_600_000_000L;
            redis.command("SET", key, bucket[0] + " " + later);
            assertThat(ask(client).status()).isEqualTo(429);
            String[] written = redis.command("GET", key).split(" ");
            assertThat(written[0]).isEqualTo(bucket[0]);
            assertThat(Long.parseLong(written[1])).isLessThan(later);
        }
    }

    /** Returns the identities of all connections but that which asks. */
    private static String connections(RedisServer redis) throws IOException, InterruptedException {
        return redis.command("CLIENT", "LIST")
                .lines()
                .filter(line -> !line.contains("cmd=client|list"))
                .map(line -> line.replaceFirst(" .*", ""))
                .sorted()
                .reduce("", (all, each) -> all + each + "\n");
    }

    @CrossPairingTest
    void aRequestThatAnotherLimitRefusesCountsForNone(Pairing pairing) throws Exception {
        try (RedisServer redis = RedisServer.start();
                Origin origin = origin();
                Rig rig = Rig.to(origin, pairing)
                        .top("stores: [{name: shared, " + at(redis) + ", timeout: 10s}]")
                        .rule("filters: [{type: RateLimit, rateLimit: {limits: ["
                                + "{name: all, requests: 4, interval: 1h, store: shared}, "
                                + "{name: mine, requests: 2, interval: 1h, key: [{header: X-User}], store: shared}, "
                                + "{name: one, maxInFlight: 1}]}}]")
                        .start();
                Peer client = rig.connect(pairing)) {
            awaitUp(rig);
            assertThat(ask(client, "x-user", "a").get("ratelimit").orElse(""))
                    .matches("\"one\";r=0, \"all\";r=3;t=\\d+, \"mine\";r=1;t=\\d+");
            assertThat(ask(client, "x-user", "a").status()).isEqualTo(200);
            assertThat(ask(client, "x-user", "a").status()).isEqualTo(429); // found by asking: 'all' gets one back
            assertThat(ask(client, "x-user", "a").status()).isEqualTo(429); // known
            assertThat(ask(client, "x-user", "b").status()).isEqualTo(200);
            assertThat(ask(client, "x-user", "b").status()).isEqualTo(200);
            assertThat(ask(client, "x-user", "c").status()).isEqualTo(429);
        }
    }
}
