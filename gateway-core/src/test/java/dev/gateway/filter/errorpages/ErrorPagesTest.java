package dev.gateway.filter.errorpages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.listener.ErrorPagesConfig;
import dev.gateway.config.value.StatusRange;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.format.PageType;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.stream.Cause;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorPagesTest {
    private static final List<StatusRange> ALL = List.of(new StatusRange(400, 599));

    private static Supplier<PageTemplate> file(PageType type, String text) {
        PageTemplate template = new PageTemplate(type, text);
        return () -> template;
    }

    private static Supplier<PageTemplate> html(String text) {
        return file(PageType.HTML, text);
    }

    private static ErrorPages.Page page(int first, int last, Set<Cause> causes, String text) {
        return new ErrorPages.Page(List.of(new StatusRange(first, last)), causes, List.of(html(text)));
    }

    private static RequestHead asking(@Nullable String... accept) {
        Fields fields = new Fields();
        Stream.of(accept).forEach(value -> {
            if (value != null) {
                fields.add(FieldName.ACCEPT, value);
            }
        });
        return new RequestHead(
                Method.GET, new AsciiString("http"), new AsciiString("a.test"), new AsciiString("/"), fields, 0);
    }

    private static ErrorAnswer failure(int status, Cause cause) {
        return new ErrorAnswer(status, cause, false, asking(), new AsciiString("abc-1"));
    }

    private static String body(ErrorBody body) {
        if (!(body instanceof ErrorBody.Page page)) {
            return body.getClass().getSimpleName();
        }
        String text = page.content().toString(StandardCharsets.UTF_8);
        page.content().release();
        return text;
    }

    private static String filled(PageType type, String text, ErrorAnswer answer) {
        return body(new ErrorPages(List.of(new ErrorPages.Page(ALL, Set.of(), List.of(file(type, text)))), true)
                .errorBody(answer));
    }

    /** Thousands of clients may take long to read their pages. */
    @Test
    void aFilledPageTakesMemoryForItsValuesOnly() {
        String text = "<p>" + "x".repeat(30_000) + "{{status}} {{requestId}}" + "y".repeat(30_000) + "{{cause}}</p>";
        ErrorPages pages = new ErrorPages(List.of(new ErrorPages.Page(ALL, Set.of(), List.of(html(text)))), true);
        ErrorBody body = pages.errorBody(failure(404, Cause.NO_ROUTE));
        assertThat(body).isInstanceOfSatisfying(ErrorBody.Page.class, page -> {
            assertThat(page.content().readableBytes()).isGreaterThan(60_000);
            assertThat(BufferCost.heap(page.content())).isLessThan(1024);
            assertThat(BufferCost.direct(page.content())).isZero();
        });
        assertThat(body(body)).startsWith("<p>xx").contains("x404 abc-1y").endsWith("yno_route</p>");
    }

    @Test
    void theFirstPageThatIsForAnErrorIsUsed() {
        ErrorPages pages = new ErrorPages(
                List.of(
                        page(404, 404, Set.of(), "not here"),
                        page(500, 599, Set.of(Cause.CONNECT_FAILED, Cause.OVERLOAD), "down"),
                        new ErrorPages.Page(List.of(), Set.of(Cause.RATE_LIMITED), List.of(html("slowly"))),
                        page(500, 502, Set.of(), "broken")),
                false);
        assertThat(body(pages.errorBody(failure(404, Cause.NO_ROUTE)))).isEqualTo("not here");
        assertThat(body(pages.errorBody(failure(502, Cause.CONNECT_FAILED)))).isEqualTo("down");
        assertThat(body(pages.errorBody(failure(502, Cause.DNS_FAILED)))).isEqualTo("broken");
        assertThat(body(pages.errorBody(failure(500, Cause.UNKNOWN)))).isEqualTo("broken");
        assertThat(body(pages.errorBody(failure(429, Cause.RATE_LIMITED)))).isEqualTo("slowly");
        assertThat(body(pages.errorBody(failure(504, Cause.UPSTREAM_TIMEOUT)))).isEqualTo("Unchanged");
        ErrorAnswer ofAFilter = new ErrorAnswer(500, null, false, asking(), null);
        assertThat(body(pages.errorBody(ofAFilter))).isEqualTo("broken");
    }

    @Test
    void whatUpstreamsAnswerHasPagesOnlyIfWanted() {
        ErrorAnswer answer = new ErrorAnswer(500, null, true, asking(), null);
        List<ErrorPages.Page> pages =
                List.of(page(500, 599, Set.of(Cause.OVERLOAD), "down"), page(500, 599, Set.of(), "broken"));
        assertThat(new ErrorPages(pages, false).errorBody(answer)).isEqualTo(ErrorBody.UNCHANGED);
        assertThat(body(new ErrorPages(pages, true).errorBody(answer))).isEqualTo("broken");
    }

    @Test
    void placesAreFilledIn() {
        String text = "{{status}} {{reason}}: {{cause}}, {{requestId}} {{other}} {status} {{ status }}{{status}}";
        assertThat(filled(PageType.HTML, text, failure(504, Cause.UPSTREAM_TIMEOUT)))
                .isEqualTo("504 Gateway Timeout: upstream_timeout, abc-1 {{other}} {status} {{ status }}504");
        assertThat(filled(PageType.HTML, "[{{cause}}{{requestId}}]", new ErrorAnswer(599, null, true, null, null)))
                .isEqualTo("[]");
        assertThat(filled(PageType.TEXT, "{{reason}}", new ErrorAnswer(599, null, true, null, null)))
                .isEqualTo("Server Error");
        assertThat(filled(PageType.TEXT, "größer", failure(404, Cause.NO_ROUTE)))
                .isEqualTo("größer");
    }

    /** No such id gets here, as ids are checked; a page must not depend on it. */
    @Test
    void anIdNeverBecomesMarkup() {
        ErrorAnswer answer =
                new ErrorAnswer(404, Cause.NO_ROUTE, false, null, new AsciiString("\"><script>alert('x')</script>"));
        assertThat(filled(PageType.HTML, "<a title=\"{{requestId}}\">", answer))
                .isEqualTo("<a title=\"&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\">");
        assertThat(filled(PageType.JSON, "{\"id\":\"{{requestId}}\"}", answer))
                .isEqualTo("{\"id\":\"\\\"><script>alert('x')</script>\"}");
    }

    @Test
    void aChangedFileIsUsedForTheNextError() {
        AtomicReference<PageTemplate> file = new AtomicReference<>(new PageTemplate(PageType.HTML, "one"));
        ErrorPages pages = new ErrorPages(List.of(new ErrorPages.Page(ALL, Set.of(), List.of(file::get))), false);
        assertThat(body(pages.errorBody(failure(404, Cause.NO_ROUTE)))).isEqualTo("one");
        file.set(new PageTemplate(PageType.HTML, "two"));
        assertThat(body(pages.errorBody(failure(404, Cause.NO_ROUTE)))).isEqualTo("two");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "| html",
                "*/*| html",
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8| html",
                "application/json| json",
                "APPLICATION/JSON | json",
                "application/problem+json| json",
                "application/json, text/plain, */*| json",
                "text/html;q=0.5, application/json;q=0.6| json",
                "text/html;level=1;q=0.7, application/json;q=0.6| html",
                "text/*;q=0.3, text/html;q=0, */*;q=0.2| own",
                "application/*| json",
                "image/avif,image/webp,*/*;q=0.8| html",
                "text/html;q=nonsense| html",
                "text/plain| own",
                "text/plain, text/html;q=0.9| own",
                "image/png| own",
                "*/*;q=0| own",
                "text/html;a=1;b=2;Q=0.4 ;c=3, application/json;q=0.5| json",
                "text/html;1;2;3;4;5;6;7;8;q=0.4, application/json;q=0.5| html",
                ",, ,| html",
            })
    void theClientChoosesAmongFilesAndTheGatewaysOwnWords(@Nullable String accept, String chosen) {
        ErrorPages pages = new ErrorPages(
                List.of(new ErrorPages.Page(ALL, Set.of(), List.of(html("html"), file(PageType.JSON, "json")))), false);
        ErrorAnswer answer = new ErrorAnswer(404, Cause.NO_ROUTE, false, asking(accept), null);
        assertThat(body(pages.errorBody(answer))).isEqualTo(chosen.equals("own") ? "Plain" : chosen);
    }

    /** What browsers' scripts send by default, and libraries. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "application/json| Plain",
                "application/json, text/plain, */*| Plain",
                "application/problem+json| Plain",
                "*/*| html",
                "text/html, */*;q=0.1| html",
            })
    void programsThatAskForJsonGetNoHtml(String accept, String chosen) {
        ErrorPages pages = new ErrorPages(List.of(new ErrorPages.Page(ALL, Set.of(), List.of(html("html")))), false);
        ErrorAnswer answer = new ErrorAnswer(404, Cause.NO_ROUTE, false, asking(accept), null);
        assertThat(body(pages.errorBody(answer))).isEqualTo(chosen);
    }

    @Test
    void severalFieldsCountAsOneAndNoneIsTooLong() {
        ErrorPages pages = new ErrorPages(
                List.of(new ErrorPages.Page(ALL, Set.of(), List.of(html("html"), file(PageType.JSON, "json")))), false);
        RequestHead both = asking("text/html;q=0.1", "application/json");
        assertThat(body(pages.errorBody(new ErrorAnswer(404, null, false, both, null))))
                .isEqualTo("json");
        RequestHead many = asking("a/b,".repeat(5_000) + "text/html");
        assertThat(body(pages.errorBody(new ErrorAnswer(404, null, false, many, null))))
                .isEqualTo("Plain");
    }

    @Test
    void theConfigurationKnowsAllCauses() {
        assertThat(ErrorPagesConfig.CAUSES)
                .containsExactlyElementsOf(
                        Arrays.stream(Cause.values()).map(Cause::label).toList());
    }
}
