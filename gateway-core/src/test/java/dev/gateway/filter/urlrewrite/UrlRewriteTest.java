package dev.gateway.filter.urlrewrite;

import static org.assertj.core.api.Assertions.assertThatObject;

import dev.gateway.filter.FakeContext;
import dev.gateway.filter.rewrite.PathRewrite;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UrlRewriteTest {
    private static FakeContext context(int prefixLength) {
        FakeContext context = FakeContext.from("192.0.2.1");
        context.matchedPrefixLength = prefixLength;
        return context;
    }

    @ParameterizedTest // the table of the Gateway API's ReplacePrefixMatch, then the cases it leaves out
    @CsvSource({
        "/foo/bar,4,/xyz,/xyz/bar",
        "/foo/bar,4,/xyz/,/xyz/bar",
        "/foo,4,/xyz,/xyz",
        "/foo/,4,/xyz,/xyz/",
        "/foo/bar,4,'',/bar",
        "/foo/,4,'',/",
        "/foo,4,'',/",
        "/foo/,4,/,/",
        "/foo,4,/,/",
        "/foo,4,/xyz/,/xyz/",
        "/foo/,4,/xyz/,/xyz/",
        "/foo?a=/b,4,/xyz,/xyz?a=/b",
        "/foo/bar?q,4,/,/bar?q",
        "/,0,/xyz,/xyz/",
        "/bar,0,/xyz,/xyz/bar",
        "/?q,0,/xyz,/xyz/?q",
        "/b,9,/xyz,/xyz",
        "*,0,/xyz,*"
    })
    void theMatchedPrefixIsReplacedByWholeElements(String path, int prefixLength, String replacement, String expected) {
        RequestHead head = Heads.get("a", path);

        new UrlRewrite(null, PathRewrite.prefix(replacement)).onRequest(head, context(prefixLength));

        assertThatObject(head.path()).hasToString(expected);
        assertThatObject(head.authority()).hasToString("a");
    }

    @ParameterizedTest
    @CsvSource({"/foo/bar,/x/y,/x/y", "/foo?a=b,/x/,/x/?a=b", "/,'',/"})
    void theWholePathIsReplacedAndTheQueryKept(String path, String replacement, String expected) {
        RequestHead head = Heads.get("a", path, "Host: a");

        new UrlRewrite("b.example", PathRewrite.full(replacement)).onRequest(head, context(1));

        assertThatObject(head.path()).hasToString(expected);
        assertThatObject(head.authority()).hasToString("b.example");
    }
}
