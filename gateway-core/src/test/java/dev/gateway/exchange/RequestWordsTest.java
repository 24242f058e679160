package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.RequestWord;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.apikey.ApiKey;
import dev.gateway.filter.apikey.ApiKeys;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.filter.fields.FieldEdits;
import dev.gateway.filter.headers.RequestHeaderModifier;
import dev.gateway.filter.headers.ResponseHeaderModifier;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.filter.urlrewrite.UrlRewrite;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.path.PathForm;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What header fields of the operator say of a request: no credentials, and the path that was matched. */
class RequestWordsTest extends ExchangeRig {
    private static final String KEY = "sekritsekrit";
    private static final FieldName PATH = FieldName.of("X-path");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path directory;

    private static FieldEdits everyWord() {
        return new FieldEdits(
                Arrays.stream(RequestWord.values())
                        .map(word -> FieldEdits.Field.of("X-" + word.text(), "{" + word.text() + "}"))
                        .toList(),
                List.of(),
                List.of());
    }

    private ApiKey keys(CredentialPlace place, boolean forward) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(KEY.getBytes(StandardCharsets.US_ASCII));
        Path file = Files.writeString(
                directory.resolve("keys"), "shop:" + HexFormat.of().formatHex(digest) + "\n");
        ApiKeys keys = ApiKeys.read(file);
        return new ApiKey(KeyPlace.of(place, "key"), () -> keys, "shop", forward);
    }

    private static RequestHead head(CredentialPlace place) {
        boolean inQuery = place == CredentialPlace.QUERY_PARAMETER;
        RequestHead head = head("GET", "/x/..//%61" + (inQuery ? "?key=" + KEY + "&b=1" : "?b=1"));
        if (place == CredentialPlace.HEADER) {
            head.fields().add(FieldName.of("key"), KEY);
        } else if (place == CredentialPlace.COOKIE) {
            head.fields().add(FieldName.COOKIE, "key=" + KEY + "; c=1");
        }
        return head;
    }

    private void request(RequestHead head) {
        route();
        handler().onRequest(client, head, true);
    }

    private Fields upstreamFields() {
        opener.last().succeed();
        return upstream().head().fields();
    }

    private static @Nullable String path(Fields fields) {
        AsciiString path = fields.first(PATH);
        return path == null ? null : path.toString();
    }

    @ParameterizedTest
    @EnumSource
    void noWordHandsOnACredential(CredentialPlace place) throws Exception {
        filters.addAll(List.of(
                keys(place, false),
                new RequestHeaderModifier(everyWord()),
                new UrlRewrite(null, PathRewrite.full("/new")),
                new ResponseHeaderModifier(everyWord())));
        request(head(place));
        Fields sent = upstreamFields();
        assertThat(path(sent)).isEqualTo("/a?b=1");
        assertThat((Object) sent.first(FieldName.of("X-identity"))).hasToString("shop");
        assertThat(sent.toString()).doesNotContain(KEY);
        assertThat((CharSequence) upstream().head().path()).hasToString("/new?b=1");
        opener.last().events.onHead(response(204), true);
        Fields answered = client.heads.get(0).fields();
        assertThat(path(answered)).as("before the path was rewritten").isEqualTo("/a?b=1");
        assertThat(answered.toString()).doesNotContain(KEY);
        assertThat((CharSequence) record().path)
                .as("for the access log, which redacts")
                .startsWith("/x/..//%61?");
    }

    /** The filter that takes the key out has not seen the request. */
    @ParameterizedTest
    @EnumSource
    void noWordOfAnEarlyRefusalHasACredential(CredentialPlace place) throws Exception {
        filters.addAll(List.of(
                new Filter() {
                    @Override
                    public Verdict onRequest(RequestHead head, FilterContext context) {
                        return new Verdict.Refuse(Failure.of(Cause.AUTHZ_DENIED, "not from here"));
                    }
                },
                keys(place, false),
                new ResponseHeaderModifier(everyWord(), true)));
        request(head(place));
        assertAnswered(403, Cause.AUTHZ_DENIED);
        Fields answered = client.heads.get(0).fields();
        assertThat(path(answered)).isEqualTo("/a");
        assertThat(answered.toString()).doesNotContain(KEY);
    }

    @Test
    void aWrongKeyIsNotRepeated() throws Exception {
        filters.addAll(
                List.of(keys(CredentialPlace.QUERY_PARAMETER, false), new ResponseHeaderModifier(everyWord(), true)));
        request(head("GET", "/a?key=wrongwrong&b=1"));
        assertAnswered(401, Cause.AUTHZ_DENIED);
        assertThat(path(client.heads.get(0).fields())).isEqualTo("/a?b=1");
    }

    /** The operator wants the upstream to have it. */
    @Test
    void aKeyThatTheUpstreamGetsIsAPartOfThePath() throws Exception {
        filters.addAll(List.of(keys(CredentialPlace.QUERY_PARAMETER, true), new RequestHeaderModifier(everyWord())));
        request(head("GET", "/a?key=" + KEY));
        assertThat(path(upstreamFields())).isEqualTo("/a?key=" + KEY);
        opener.last().events.onHead(response(204), true);
    }

    /** The unchanged path goes upstream without the key, and the word is what the rule has matched. */
    @Test
    void thePathIsTheOneThatTheRuleHasMatched() throws Exception {
        settings.path = PathForm.AS_WRITTEN;
        filters.addAll(List.of(keys(CredentialPlace.QUERY_PARAMETER, false), new RequestHeaderModifier(everyWord())));
        request(head("GET", "/a//%61/./b?key=" + KEY + "&b=1"));
        assertThat(path(upstreamFields())).isEqualTo("/a/a/b?b=1");
        assertThat((CharSequence) upstream().head().forwardedPath()).hasToString("/a//%61/./b?b=1");
        opener.last().events.onHead(response(204), true);
    }
}
