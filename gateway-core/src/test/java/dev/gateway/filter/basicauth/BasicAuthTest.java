package dev.gateway.filter.basicauth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.auth.ManualLogins;
import dev.gateway.filter.auth.UserAccounts;
import dev.gateway.message.FieldName;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("NullAway.Init") // set before each test
class BasicAuthTest {
    private static final String PASSWORD = "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=";

    private final ManualLogins logins = new ManualLogins();
    private final FakeContext context = FakeContext.from("192.0.2.1");
    private Path file;
    private UserAccounts accounts;

    @BeforeEach
    void open(@TempDir Path directory) throws Exception {
        file = Files.writeString(directory.resolve("users"), "eve:" + PASSWORD + "\n");
        accounts = logins.open(file);
    }

    private static String basic(String credentials) {
        return "Authorization: Basic "
                + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    }

    private static RequestHead request(String... fields) {
        return Heads.request("GET", "shop.test", "/", fields);
    }

    private Verdict ask(BasicAuth filter, RequestHead head) {
        Verdict verdict = filter.onRequest(head, context);
        if (!(verdict instanceof Verdict.Wait)) {
            return verdict;
        }
        int before = context.resumed.size();
        logins.hash();
        context.runLoop();
        assertThat(context.resumed).hasSize(before + 1);
        return context.resumed.get(before);
    }

    private static void assertAsked(Verdict verdict) {
        assertThat(verdict).isInstanceOfSatisfying(Verdict.Refuse.class, refuse -> {
            assertThat(refuse.failure().cause()).isEqualTo(Cause.AUTHZ_DENIED);
            assertThat(refuse.failure().status()).isEqualTo(401);
            assertThat(String.valueOf(refuse.fields().first(FieldName.WWW_AUTHENTICATE)))
                    .isEqualTo("Basic realm=\"staff\", charset=\"UTF-8\"");
            assertThat(refuse.fields().contains(FieldName.PROXY_AUTHENTICATE)).isFalse();
        });
    }

    @Test
    void aUserOfTheFileMayUseTheRouteAndTheUpstreamLearnsNoPassword() {
        RequestHead head = request(basic("eve:password"));
        assertThat(ask(new BasicAuth(accounts, "staff", false), head)).isEqualTo(Verdict.PROCEED);
        assertThat(Objects.requireNonNull(context.identity()).name()).isEqualTo("eve");
        assertThat(head.fields().contains(FieldName.AUTHORIZATION)).isFalse();

        RequestHead forwarded = request(basic("eve:password"));
        assertThat(ask(new BasicAuth(accounts, "staff", true), forwarded)).isEqualTo(Verdict.PROCEED);
        assertThat(forwarded.fields().contains(FieldName.AUTHORIZATION)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"eve:wrong", "eve:", "nobody:password", "EVE:password"})
    void othersAreAskedWhoTheyAre(String credentials) {
        BasicAuth filter = new BasicAuth(accounts, "staff", false);
        assertAsked(ask(filter, request(basic(credentials))));
        assertAsked(ask(filter, request(basic(credentials)))); // known to be wrong by now
        assertThat(context.identity()).isNull();
    }

    @Test
    void whatIsNoPasswordIsNotAccepted() {
        BasicAuth filter = new BasicAuth(accounts, "staff", false);
        assertAsked(ask(filter, request()));
        assertAsked(ask(filter, request("Authorization: Bearer abc")));
        assertAsked(ask(filter, request("Authorization: Basic !")));
        assertAsked(ask(filter, request(basic("eve:password"), basic("eve:password"))));
        assertAsked(ask(filter, request("Proxy-" + basic("eve:password"))));
        assertThat(logins.hashing).isEmpty();
    }

    @Test
    void aPasswordIsHashedOnceForAllFiltersOfAFileAndAgainWhenTheFileHasChanged() throws Exception {
        assertThat(ask(new BasicAuth(accounts, "staff", false), request(basic("eve:password"))))
                .isEqualTo(Verdict.PROCEED);
        BasicAuth ofTheNextGeneration = new BasicAuth(accounts, "other", false);
        assertThat(ofTheNextGeneration.onRequest(request(basic("eve:password")), context))
                .isEqualTo(Verdict.PROCEED);

        Files.writeString(file, "adam:" + PASSWORD + "\n");
        logins.nanos += TimeUnit.SECONDS.toNanos(2);
        accounts.look();
        assertThat(ask(ofTheNextGeneration, request(basic("eve:password")))).isInstanceOf(Verdict.Refuse.class);
        assertThat(ask(ofTheNextGeneration, request(basic("adam:password")))).isEqualTo(Verdict.PROCEED);
    }

    @Test
    void whoseLineHasNotChangedStaysKnownAndOthersAreCheckedAgain() throws Exception {
        BasicAuth filter = new BasicAuth(accounts, "staff", false);
        assertThat(ask(filter, request(basic("eve:password")))).isEqualTo(Verdict.PROCEED);
        Files.writeString(file, "eve:" + PASSWORD + "\nadam:" + PASSWORD + "\n");
        logins.nanos += TimeUnit.SECONDS.toNanos(2);
        accounts.look();
        assertThat(filter.onRequest(request(basic("eve:password")), context)).isEqualTo(Verdict.PROCEED);
        assertThat(filter.onRequest(request(basic("adam:password")), context)).isInstanceOf(Verdict.Wait.class);

        Files.writeString(file, "eve:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\nadam:" + PASSWORD + "\n");
        logins.nanos += TimeUnit.SECONDS.toNanos(2);
        accounts.look();
        assertThat(filter.onRequest(request(basic("eve:password")), context)).isInstanceOf(Verdict.Wait.class);
    }

    @Test
    void whoGuessesIsHeldUp() {
        BasicAuth filter = new BasicAuth(accounts, "staff", false);
        for (int i = 0; i < ManualLogins.FAILURES_OF_A_CLIENT; i++) {
            assertAsked(ask(filter, request(basic("eve:guess" + i))));
        }
        assertThat(ask(filter, request(basic("eve:another"))))
                .isInstanceOfSatisfying(
                        Verdict.Refuse.class,
                        refuse -> assertThat(refuse.failure().cause()).isEqualTo(Cause.RATE_LIMITED));
    }

    private Verdict ask(BasicAuth filter, FakeContext from, String credentials) {
        Verdict verdict = filter.onRequest(request(basic(credentials)), from);
        from.runLoop(); // after a look at the files
        logins.hash();
        from.runLoop();
        return verdict instanceof Verdict.Wait && !from.resumed.isEmpty()
                ? from.resumed.get(from.resumed.size() - 1)
                : verdict;
    }

    /** Each guess may come from an address of its own. */
    @Test
    void guessesAtOneUserAreLimitedWhereverTheyComeFrom() {
        BasicAuth filter = new BasicAuth(accounts, "staff", false);
        FakeContext known = FakeContext.from("198.51.100.7");
        assertThat(ask(filter, known, "eve:password")).isEqualTo(Verdict.PROCEED);
        logins.nanos += TimeUnit.HOURS.toNanos(2); // what was right is not remembered any more, but from where it came
        int checked = 0;
        for (int i = 0; i < 600; i++) {
            Verdict verdict =
                    ask(filter, FakeContext.from("2001:db8:7:" + Integer.toHexString(i) + "::1"), "eve:no" + i);
            checked +=
                    verdict instanceof Verdict.Refuse refuse && refuse.failure().status() == 401 ? 1 : 0;
        }
        assertThat(checked).isEqualTo(ManualLogins.GUESSES_AT_A_USER);
        assertThat(ask(filter, FakeContext.from("192.0.2.9"), "adam:no"))
                .as("another user")
                .isInstanceOf(Verdict.Refuse.class);
        FakeContext unknown = FakeContext.from("203.0.113.7");
        assertThat(ask(filter, unknown, "eve:password")).isInstanceOf(Verdict.Wait.class);
        assertThat(ask(filter, known, "eve:password")).isEqualTo(Verdict.PROCEED);
        logins.nanos += ManualLogins.NANOS_OF_A_GUESS * 2;
        logins.delayed.remove().run();
        unknown.runLoop();
        assertThat(unknown.resumed).containsExactly(Verdict.PROCEED); // another client has shown it meanwhile
    }

    /** The file may be that of several filters, and a reload makes new ones. */
    @Test
    void guessesAtAUserOfOneFileCountTogether() throws Exception {
        int checked = 0;
        for (int i = 0; i < 60; i++) {
            BasicAuth filter = new BasicAuth(logins.open(file), "staff", false);
            Verdict verdict = ask(filter, FakeContext.from("2001:db8:7:" + i + "::1"), "eve:no" + i);
            checked +=
                    verdict instanceof Verdict.Refuse refuse && refuse.failure().status() == 401 ? 1 : 0;
        }
        assertThat(checked).isEqualTo(ManualLogins.GUESSES_AT_A_USER);
    }

    @Test
    void aLineThatIsWrongIsTold() throws Exception {
        Files.writeString(file, "eve:" + PASSWORD + "\nbob:nonsense\n");
        logins.nanos += TimeUnit.SECONDS.toNanos(2);
        accounts.look();
        assertThat(accounts.problems()).singleElement().asString().startsWith(file + ":2:1: ");
    }
}
