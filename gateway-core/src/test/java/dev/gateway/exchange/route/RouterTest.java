package dev.gateway.exchange.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.PathType;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.filter.Filter;
import dev.gateway.filter.bodylimit.BodyLimit;
import dev.gateway.filter.timing.FilterTimes;
import dev.gateway.filter.timing.TimedFilter;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RouterTest {
    private final RouterBuilder builder = new RouterBuilder();

    static Route route(String name) {
        return new Route(name, List.of(), Route.Forwarding.NONE, Route.Timeouts.NONE, Route.Upgrades.NONE);
    }

    private RouterTest add(String name, List<String> hosts, MatchConfig... matches) {
        builder.add(hosts, List.of(matches), route(name));
        return this;
    }

    private RouterTest exact(String path) {
        return add("exact " + path, List.of(), MatchConfig.path(PathType.EXACT, path));
    }

    private RouterTest prefix(String path) {
        return add("prefix " + path, List.of(), MatchConfig.path(PathType.PATH_PREFIX, path));
    }

    private RouterTest regex(String path) {
        return add("regex " + path, List.of(), MatchConfig.path(PathType.REGULAR_EXPRESSION, path));
    }

    private @Nullable String matched(RequestHead head) {
        Router.Match match = builder.build().match(head);
        return match == null ? null : match.route().name();
    }

    private @Nullable String path(String path) {
        return matched(Heads.get("a.com", path));
    }

    @Test
    void withoutRoutesNothingMatches() {
        assertThat(path("/")).isNull();
        assertThat(path("")).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "example.com,exact",
        "EXAMPLE.com,exact",
        "example.com:8080,exact",
        "example.com.,exact",
        "example.com.:80,exact",
        "www.example.com,wild",
        "a.b.example.com:81,wild",
        "WWW.Example.COM.,wild",
        "x.api.example.com,longer wild",
        "api.example.com,wild",
        "deep.x.api.example.com,longer wild",
        "notexample.com,any",
        "com,any",
        "[::1]:80,v6",
        "[::2],any",
        "'',any",
        "www.example.org,any"
    })
    void theMostSpecificHostWins(String host, String name) {
        add("any", List.of()).add("wild", List.of("*.Example.com")).add("exact", List.of("Example.COM"));
        add("longer wild", List.of("*.api.example.com")).add("v6", List.of("[::1]"));

        assertThat(matched(Heads.get(host, "/"))).isEqualTo(name);
    }

    @Test
    void aHostThatNoRouteNamesFindsNothing() {
        add("one", List.of("a.com", "*.b.com"));

        assertThat(matched(Heads.get("c.com", "/"))).isNull();
        assertThat(matched(Heads.get("b.com", "/"))).isNull();
        assertThat(matched(Heads.get("x.b.com", "/"))).isEqualTo("one");
        assertThat(matched(Heads.get("", "/"))).isNull();
    }

    @Test
    void whatTheMoreSpecificHostDoesNotAcceptTheNextHostMay() {
        add("any", List.of("*"));
        add("wild", List.of("*.example.com"), MatchConfig.path(PathType.PATH_PREFIX, "/wild"));
        add("longer", List.of("*.api.example.com"), MatchConfig.path(PathType.PATH_PREFIX, "/longer"));
        add("exact", List.of("v1.api.example.com"), MatchConfig.path(PathType.PATH_PREFIX, "/exact"));

        assertThat(matched(Heads.get("v1.api.example.com", "/exact"))).isEqualTo("exact");
        assertThat(matched(Heads.get("v1.api.example.com", "/longer"))).isEqualTo("longer");
        assertThat(matched(Heads.get("v1.api.example.com", "/wild"))).isEqualTo("wild");
        assertThat(matched(Heads.get("v1.api.example.com", "/"))).isEqualTo("any");
        assertThat(matched(Heads.get("v2.api.example.com", "/exact"))).isEqualTo("any");
    }

    @ParameterizedTest
    @CsvSource({
        "/foo,prefix /foo",
        "/foo/,prefix /foo",
        "/foo/x,prefix /foo",
        "/foo?/bar,prefix /foo",
        "/foobar,prefix /",
        "/foo/bar,exact /foo/bar",
        "/foo/bar?q,exact /foo/bar",
        "/foo/bar/,prefix /foo/bar/",
        "/foo/bar/x,prefix /foo/bar/",
        "/foo/bar/baz/qux,prefix /foo/bar/baz",
        "/foo/barbaz,prefix /foo",
        "/FOO,prefix /",
        "/,prefix /",
        "/?,prefix /",
        "/fo,prefix /",
        "*,prefix /",
        "/a/very/long/path/that/is/longer/than/any/prefix/or/exact/path/configured,prefix /",
        "/foo/bar/baz/qux/a/very/long/path/that/is/longer/than/any,prefix /foo/bar/baz"
    })
    void exactPathsWinThenTheLongestPrefixOfWholeElements(String path, String name) {
        prefix("/").prefix("/foo").exact("/foo/bar").prefix("/foo/bar/").prefix("/foo/bar/baz");

        assertThat(path(path)).isEqualTo(name);
    }

    @Test
    void anExactPathDoesNotMatchWithASlashMore() {
        exact("/a").exact("/b/");

        assertThat(path("/a")).isEqualTo("exact /a");
        assertThat(path("/a/")).isNull();
        assertThat(path("/b/")).isEqualTo("exact /b/");
        assertThat(path("/b")).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "/api/v1,regex /api/v[0-9]+",
        "/api/v12?q=1,regex /api/v[0-9]+",
        "/api/v,prefix /api/v",
        "/api/v1/x,prefix /",
        "/api/v/1,prefix /api/v",
        "/x/api/v1,prefix /",
        "/api/v7,exact /api/v7",
        "/one,regex /one|/two",
        "/two,regex /one|/two",
        "/twofold,prefix /",
        "/aab,regex /aa*b",
        "/ab,regex /aa*b",
        "/b,prefix /"
    })
    void aRegularExpressionMatchesTheWholePathAndStandsBetweenExactAndPrefix(String path, String name) {
        prefix("/")
                .prefix("/api/v")
                .regex("/api/v[0-9]+")
                .exact("/api/v7")
                .regex("/one|/two")
                .regex("/aa*b");

        assertThat(path(path)).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource({
        "/api/v[0-9]+,/api/v",
        "^/api/.*,/api/",
        "/ab*,/a",
        "/ab?c,/a",
        "/ab{2},/a",
        "/ab+,/ab",
        "/a|/b,''",
        "/a(b|c)*d,/a",
        "^/api/(users|groups)/[^/]+/(a|b).*,/api/",
        "/a[^|(]b(c|(?P<d>e|f)),/a",
        "/a(?i)b(c|d),/a",
        "/a(|b),/a",
        "/ab?(c|d),/a",
        "/ab{2}(c|d),/a",
        "/a\\|b,/a",
        "/a(b|c)|d,''",
        "/a\\(b|c\\),''",
        "/a\\\\|b,''",
        "/a[(]b|c[)],''",
        "/a[](]b|c[)],''",
        "/a[[:alpha:](]b|c[)],''",
        "/a\\Q(\\Eb|c\\Q)\\E,''",
        "/a\u00e9?(b|c),/a",
        "/a\ud83d\ude00?,/a",
        "(?i)/a,''",
        "/a\\.b,/a",
        "/plain,/plain",
        "*,''"
    })
    void theLiteralStartOfAnExpressionIsNeverMoreThanWhatEveryMatchBeginsWith(String expression, String literal) {
        assertThat(RegexPath.literalPrefix(expression)).isEqualTo(literal);
    }

    @Test
    void whateverAnExpressionIsItsMatchesBeginWithTheLiteral() {
        String signs = "ab|()[]\\*Q";
        List<String> texts =
                List.of("", "a", "b", "aa", "ab", "ba", "aQ", "a(", "a)", "a|", "a|b", "a*", "a]", "(", "b)");
        List<String> wrong = new ArrayList<>();
        for (int number = 0; number < 100_000; number++) { // each digit is a sign
            StringBuilder expression = new StringBuilder("a");
            for (int rest = number; rest > 0; rest /= 10) {
                expression.append(signs.charAt(rest % 10));
            }
            Pattern pattern = compiled(expression.toString());
            String literal = RegexPath.literalPrefix(expression.toString());
            if (pattern != null
                    && texts.stream().anyMatch(text -> !text.startsWith(literal) && pattern.matches(text))) {
                wrong.add(expression.toString());
            }
        }
        assertThat(wrong).isEmpty();
    }

    private static @Nullable Pattern compiled(String expression) {
        try {
            return Pattern.compile(expression);
        } catch (PatternSyntaxException e) {
            return null;
        }
    }

    private static MatchConfig with(@Nullable String method, List<ValueMatch> headers, List<ValueMatch> query) {
        return Matches.of(PathType.PATH_PREFIX, "/", method, headers, query);
    }

    @Test
    void amongEqualPathsMethodThenHeadersThenQueryThenFileOrderDecide() {
        add("first", List.of());
        add("second", List.of());
        add("query", List.of(), with(null, List.of(), List.of(Matches.exact("q", "1"))));
        add("two queries", List.of(), with(null, List.of(), List.of(Matches.exact("q", "1"), Matches.exact("r", "1"))));
        add("header", List.of(), with(null, List.of(Matches.exact("x-a", "1")), List.of()));
        add(
                "two headers",
                List.of(),
                with(null, List.of(Matches.exact("x-a", "1"), Matches.exact("x-b", "2")), List.of()));
        add("method", List.of(), with("POST", List.of(), List.of()));

        String all = "/?q=1&r=1";
        String[] headers = {"X-A: 1", "X-B: 2"};
        assertThat(matched(Heads.request("POST", "a", all, headers))).isEqualTo("method");
        assertThat(matched(Heads.request("GET", "a", all, headers))).isEqualTo("two headers");
        assertThat(matched(Heads.request("GET", "a", all, "X-A: 1"))).isEqualTo("header");
        assertThat(matched(Heads.request("GET", "a", all, "X-A: 2"))).isEqualTo("two queries");
        assertThat(matched(Heads.request("GET", "a", "/?q=1"))).isEqualTo("query");
        assertThat(matched(Heads.request("GET", "a", "/"))).isEqualTo("first");
        assertThat(matched(Heads.request("post", "a", "/"))).isEqualTo("first");
    }

    @Test
    void aMethodOfGetMatchesWebSocketsToo() {
        add("tunnel", List.of(), with("CONNECT", List.of(), List.of()));
        add("get", List.of(), with("GET", List.of(), List.of()));
        RequestHead upgrade = Heads.get("a", "/");
        upgrade.upgradeTo(new AsciiString("websocket"));
        assertThat(matched(upgrade)).isEqualTo("get");
        RequestHead extended = Heads.request("CONNECT", "a", "/");
        extended.setProtocol(new AsciiString("websocket"));
        assertThat(matched(extended)).isEqualTo("get");
    }

    @Test
    void aTunnelIsMatchedByItsHost() {
        add("any", List.of()).add("wild", List.of("*.example.com"));
        assertThat(matched(Heads.request("CONNECT", "www.example.com:443", ""))).isEqualTo("wild");
        assertThat(matched(Heads.request("CONNECT", "192.0.2.1:5432", ""))).isEqualTo("any");
    }

    @Test
    void aLongerPathWhoseOtherConstraintsFailLeavesTheRequestToAShorterOne() {
        prefix("/").prefix("/a");
        add("post", List.of(), Matches.of(PathType.EXACT, "/a/b", "POST", List.of(), List.of()));
        add(
                "gold",
                List.of(),
                Matches.of(PathType.PATH_PREFIX, "/a/b", null, List.of(Matches.exact("x-tier", "gold")), List.of()));
        add("regex put", List.of(), Matches.of(PathType.REGULAR_EXPRESSION, "/a/.*", "PUT", List.of(), List.of()));

        assertThat(matched(Heads.request("POST", "a", "/a/b"))).isEqualTo("post");
        assertThat(matched(Heads.request("GET", "a", "/a/b", "x-tier: gold"))).isEqualTo("gold");
        assertThat(matched(Heads.request("PUT", "a", "/a/b", "x-tier: gold"))).isEqualTo("regex put");
        assertThat(matched(Heads.request("GET", "a", "/a/b", "x-tier: silver"))).isEqualTo("prefix /a");
        assertThat(matched(Heads.request("GET", "a", "/b"))).isEqualTo("prefix /");
    }

    @Test
    void oneOfSeveralMatchesIsEnough() {
        add("either", List.of(), MatchConfig.path(PathType.EXACT, "/a"), MatchConfig.path(PathType.PATH_PREFIX, "/b"));

        assertThat(path("/a")).isEqualTo("either");
        assertThat(path("/b/c")).isEqualTo("either");
        assertThat(path("/c")).isNull();
    }

    @Test
    void headersCompareTheWholeValueOfAnyLineAndNamesWithoutCase() {
        add("hit", List.of(), with(null, List.of(Matches.exact("X-Tier", "gold")), List.of()));

        assertThat(matched(Heads.get("a", "/", "x-tier: gold"))).isEqualTo("hit");
        assertThat(matched(Heads.get("a", "/", "x-tier: silver", "X-TIER: gold")))
                .isEqualTo("hit");
        assertThat(matched(Heads.get("a", "/", "x-tier: Gold"))).isNull();
        assertThat(matched(Heads.get("a", "/", "x-tier: golden"))).isNull();
        assertThat(matched(Heads.get("a", "/"))).isNull();
    }

    @Test
    void headersAndQueryParametersMayBeMatchedByExpression() {
        add(
                "hit",
                List.of(),
                with(
                        null,
                        List.of(Matches.regex("User-Agent", ".*Firefox.*")),
                        List.of(Matches.regex("v", "[0-9]+ x"))));

        assertThat(matched(Heads.get("a", "/?v=12+x", "User-Agent: Mozilla Firefox/1")))
                .isEqualTo("hit");
        assertThat(matched(Heads.get("a", "/?v=%312%20x", "User-Agent: Firefox")))
                .isEqualTo("hit");
        assertThat(matched(Heads.get("a", "/?v=a12+x", "User-Agent: Firefox"))).isNull();
        assertThat(matched(Heads.get("a", "/?v=12+x", "User-Agent: Chromium"))).isNull();
    }

    @Test
    void valuesWithMoreThanAsciiAreUtf8() {
        add("exact", List.of(), with(null, List.of(Matches.exact("X-City", "K\u00f6ln")), List.of()));
        add("regex", List.of(), with(null, List.of(Matches.regex("X-City", "K.k\u00f6y|\u674e")), List.of()));
        add("query", List.of(), with(null, List.of(), List.of(Matches.regex("city", "K.k\u00f6y"))));

        assertThat(matched(Heads.get("a", "/", "X-City: K\u00c3\u00b6ln"))).isEqualTo("exact");
        assertThat(matched(Heads.get("a", "/", "X-City: K\u00f6ln"))).isNull();
        assertThat(matched(Heads.get("a", "/", "X-City: K\u00c3\u00b6k\u00c3\u00b6y")))
                .isEqualTo("regex");
        assertThat(matched(Heads.get("a", "/", "X-City: \u00e6\u009d\u008e"))).isEqualTo("regex");
        assertThat(matched(Heads.get("a", "/", "X-City: ?"))).isNull();
        assertThat(matched(Heads.get("a", "/?city=K%C3%B6k%C3%B6y"))).isEqualTo("query");
    }

    @Test
    void hostIsMatchedAgainstTheAuthorityWhateverTheProtocol() {
        add("hit", List.of(), with(null, List.of(Matches.exact("Host", "a.com:80")), List.of()));

        assertThat(matched(Heads.get("A.com:80", "/"))).isEqualTo("hit");
        assertThat(matched(Heads.get("a.com", "/"))).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "/?q=ab,false",
        "/?q=a%20b,true",
        "/?q=a+b,true",
        "/?%71=a%20b,true",
        "/?x=1&q=a+b&y,true",
        "/?q=1&q=a+b,false",
        "/?q=a+b&q=1,true",
        "/?q,false",
        "/?q=,false",
        "/?qq=a+b,false",
        "/?q=a+b+,false",
        "/?q=a%2520b,false",
        "/?Q=a+b,false",
        "/q=a+b,false",
        "/?&&q=a+b,true",
        "/?q=a%2,false",
        "/,false"
    })
    void aQueryParameterIsComparedDecodedAndItsFirstValueCounts(String path, boolean hit) {
        add("hit", List.of(), with(null, List.of(), List.of(Matches.exact("q", "a b"))));

        assertThat(path(path)).isEqualTo(hit ? "hit" : null);
    }

    @Test
    void oddQueriesAreComparedAsTheyAre() {
        add("empty", List.of(), with(null, List.of(), List.of(Matches.exact("e", ""))));
        add("percent", List.of(), with(null, List.of(), List.of(Matches.exact("p", "100%"))));
        add("equals", List.of(), with(null, List.of(), List.of(Matches.exact("t", "a=b"))));
        add("utf8", List.of(), with(null, List.of(), List.of(Matches.exact("u", "\u00e9"))));

        assertThat(path("/?e")).isEqualTo("empty");
        assertThat(path("/?e=")).isEqualTo("empty");
        assertThat(path("/?p=100%")).isEqualTo("percent");
        assertThat(path("/?p=100%25")).isEqualTo("percent");
        assertThat(path("/?t=a=b")).isEqualTo("equals");
        assertThat(path("/?u=%C3%a9")).isEqualTo("utf8");
    }

    @ParameterizedTest
    @CsvSource({"/api/x,4", "/api,4", "/api/v1/x,7", "/,0", "/exact,0", "/re1,0"})
    void aMatchTellsHowMuchOfThePathItsPrefixCovered(String path, int length) {
        prefix("/").prefix("/api/").prefix("/api/v1").exact("/exact").regex("/re[0-9]");

        Router.Match match = Objects.requireNonNull(builder.build().match(Heads.get("a", path)));

        assertThat(match.prefixLength()).isEqualTo(length);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "*.", "a.*.b", "**", "a:80", "", ".a", "*a.com", "a/b"})
    void aHostNameThatIsNoneIsRefused(String hostname) {
        assertThatThrownBy(() -> add("x", List.of(hostname))).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "/a//b", "/a/../b", "/%61", "/a?b", "/a b", "/..", "/%2f"})
    void aPathThatNoNormalizedRequestCouldHaveIsRefused(String path) {
        assertThatThrownBy(() -> prefix(path)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> exact(path)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anExpressionThatIsNoneIsRefused() {
        assertThatThrownBy(() -> regex("/a(")).isInstanceOf(PatternSyntaxException.class);
        assertThatThrownBy(() -> regex("/(?=a)")).isInstanceOf(PatternSyntaxException.class);
    }

    @Test
    void anExpressionThatOtherEnginesChokeOnTakesLinearTime() {
        regex("/(a+)+b");

        // Backtracking would take 2^200 steps and never come back.
        assertThat(path("/" + "a".repeat(200))).isNull();
    }

    // ---- paths that upstreams read in another way

    private static final Filter GUARD = new Filter() {
        @Override
        public boolean guards() {
            return true;
        }
    };

    private RouterTest guard(String name, PathType type, String path) {
        Route route = new Route(name, List.of(GUARD), Route.Forwarding.NONE, Route.Timeouts.NONE, Route.Upgrades.NONE);
        builder.add(List.of(), List.of(MatchConfig.path(type, path)), route);
        return this;
    }

    @ParameterizedTest
    @CsvSource({
        "/admin,admin",
        "/admin/x,admin",
        "/admin%2Fx,admin",
        "/admin%5Cx,admin",
        "/admin;a=1/x,admin",
        "/admin;a=1,admin",
        "/;a/admin/x,admin",
        "/admin%3Ba/x,admin",
        "/public/..%3B/admin,admin",
        "/shop/secret%2Fkey,secret",
        "/shop/secret%2Fkey2,prefix /",
        "/space%20here%2Fx,space",
        "/%40scope/x,scope",
        "/docs/a%2Fb,regex",
        "/docs/ab,prefix /",
        "/adminx%2Fx,prefix /",
        "/x%2Fadmin,prefix /",
        "/x;admin/y,prefix /",
        "/@npm%2Fname,prefix /",
        "/a?x=/admin%2Fy;z,prefix /",
        "/admin%3F,admin",
        "/admin%3Fx=1,admin",
        "/admin%23,admin",
        "/admin%23x,admin",
        "/shop/secret%2Fkey%3F.html,secret",
        "/adminx%3F,prefix /",
        "/x%3F/admin,prefix /",
        "/admin.,admin",
        "/admin./x,admin",
        "/admin%20,admin",
        "/admin%2E%20.,admin",
        "/admin::$DATA,admin",
        "/shop./secret/key...,secret",
        "/docs/a/b.,regex",
        "/admin.x,prefix /",
        "/admin:data,prefix /",
        "/files/readme.,prefix /",
        "/a%20b,prefix /",
        "/shop/secret/key/x.,prefix /",
    })
    void aRouteThatGuardsTakesWhatUpstreamsMayReadAsItsPath(String path, String name) {
        prefix("/").guard("admin", PathType.PATH_PREFIX, "/admin").guard("secret", PathType.EXACT, "/shop/secret/key");
        guard("space", PathType.PATH_PREFIX, "/space%20here").guard("scope", PathType.PATH_PREFIX, "/@scope");
        guard("regex", PathType.REGULAR_EXPRESSION, "/docs/[a-z]/[a-z]");

        assertThat(path(path)).isEqualTo(name);
    }

    /** An upstream that decodes paths serves the same with and without the escapes of a rule. */
    @ParameterizedTest
    @CsvSource({
        "/@scope%2Fname,package",
        "/@scope/name,package",
        "/@scope/name/x,package",
        "/@scope/other,prefix /",
        "/a%3Ab,colon",
        "/a:b,colon",
        "/a:c,prefix /"
    })
    void aRouteThatGuardsWithEscapesTakesThePathWithoutThem(String path, String name) {
        prefix("/").guard("package", PathType.PATH_PREFIX, "/@scope%2Fname").guard("colon", PathType.EXACT, "/a%3Ab");

        assertThat(path(path)).isEqualTo(name);
    }

    /** Elsewhere than on Windows, a decoded backslash is part of a name: in rules as in paths. */
    @ParameterizedTest
    @CsvSource({
        "/files/a%5Cb,inner",
        "/files/a%5Cc,files",
        "/files/open%5C,files",
        "/files%2Fopen%5C,files",
        "/files%2Fopen%2Fx%20y,prefix /",
        "/priv%5Ck%2Fopen%5C,private",
        "/priv%5Ck/open/x,open",
    })
    void aBackslashMayBePartOfAName(String path, String name) {
        prefix("/").guard("files", PathType.PATH_PREFIX, "/files").guard("private", PathType.PATH_PREFIX, "/priv%5Ck");
        add("inner", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/files/a%5Cb"));
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/files/open"));
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/priv%5Ck/open"));

        assertThat(path(path)).isEqualTo(name);
    }

    /** An open rule for a name with a slash or backslash opens no path with a slash in its place. */
    @ParameterizedTest
    @CsvSource({
        "/private/back%5Cslash,open",
        "/private/a%2Fb,open",
        "/private%2Fback/slash,private",
        "/private;x/back/slash,private",
        "/private./back/slash,private",
        "/private%2Fback/slash;%5C,private",
        "/private;x/a/b,private",
        "/private;x/open%2Fy,private",
        "/private/open/x,open",
        "/repos;x/a%2Fb,repository",
        "/repos;x/a/b,prefix /",
    })
    void anOpenRuleWithEscapesOpensNoOtherPath(String path, String name) {
        prefix("/").guard("private", PathType.PATH_PREFIX, "/private");
        guard("repository", PathType.REGULAR_EXPRESSION, "/repos/[^/]+");
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/private/back%5Cslash"));
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/private/a%2Fb"));
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/private/open"));

        assertThat(path(path)).isEqualTo(name);
    }

    /** Such an open rule hides no guard of a plain path either. */
    @ParameterizedTest
    @CsvSource({
        "/@scope/public,scope",
        "/%40scope%2Fpublic,open",
        "/a/b/c,a",
        "/a/b/c;x,a",
        "/a/b%5Cc,open",
    })
    void anOpenRuleWithEscapesHidesNoGuardOfAPlainPath(String path, String name) {
        prefix("/").guard("scope", PathType.PATH_PREFIX, "/%40scope").guard("a", PathType.PATH_PREFIX, "/a%2Fb");
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/%40scope%2Fpublic"));
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/a/b%5Cc"));

        assertThat(path(path)).isEqualTo(name);
    }

    /** An escape in an expression says nothing of how a path is written. */
    @Test
    void anExpressionWithAnEscapeKeepsItsPlace() {
        add("open", List.of(), MatchConfig.path(PathType.REGULAR_EXPRESSION, "/repos/[^/]+(%2F[^/]+)?"));
        guard("all", PathType.REGULAR_EXPRESSION, "/repos/.*").guard("space", PathType.PATH_PREFIX, "/a%20b");

        assertThat(path("/repos/a")).isEqualTo("open");
    }

    /** So that expressions do not take long for a path with many readings, which nobody needs. */
    @ParameterizedTest
    @CsvSource({
        "/users/, 7500, %2F%5C%20%3F;x/c, true",
        "/nobody/, 7500, %2F%5C%20%3F;x/c, true",
        "/users/, 500, %2F%5C%20%3F;x/c, false",
        "/users/, 7500, %20%C3%A9/c, false",
        "/users/, 7500, /c, false",
        "/refused/, 7500, %2F%5C%20%3F;x/c, false"
    })
    void aLongPathWithManyReadingsIsRefusedWhereRulesHaveExpressions(
            String start, int length, String end, boolean isRefused) {
        RequestHead head = Heads.get("a.com", start + "u".repeat(length) + end);
        Filter refusal = new Filter() {
            @Override
            public boolean guards() {
                return true;
            }

            @Override
            public boolean refusesAll() {
                return true;
            }
        };
        prefix("/users").guard("guard", PathType.PATH_PREFIX, "/secret");
        builder.add(
                List.of(),
                List.of(MatchConfig.path(PathType.PATH_PREFIX, "/refused")),
                new Route("no", List.of(refusal), Route.Forwarding.NONE, Route.Timeouts.NONE, Route.Upgrades.NONE));
        assertThat(isUnclear(builder.build().match(head))).isFalse();

        regex("/users/(a|b)");
        Router.Match match = builder.build().match(head);
        assertThat(isUnclear(match)).isEqualTo(isRefused);
        assertThat(match != null && match.isDeceptive()).isEqualTo(isRefused);
    }

    private static boolean isUnclear(Router.@Nullable Match match) {
        return match != null && match.isUnclear();
    }

    /** For a plain path, its own rule comes before a rule with escapes, in whatever order the two stand. */
    @ParameterizedTest
    @CsvSource({
        "/@scope%2Fname,package",
        "/@scope/name,files",
        "/@scope/name/-/x.tgz,files",
        "/%2F,root",
        "/,open",
        "/x,open"
    })
    void aRouteForThePlainPathComesBeforeOneWithEscapes(String path, String name) {
        guard("package", PathType.PATH_PREFIX, "/@scope%2Fname")
                .guard("files", PathType.PATH_PREFIX, "/@scope/name")
                .guard("root", PathType.PATH_PREFIX, "/%2F");
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/"));

        assertThat(path(path)).isEqualTo(name);
    }

    /** A path without escapes is never read as a rule's with escapes where a rule for the plain path is there. */
    @ParameterizedTest
    @CsvSource({"/a/b.,open", "/a/b;x,open", "/a/b.?%20,open", "/a%2Fb.,package", "/a/c.,prefix /"})
    void readingsOfAPlainPathPreferRulesWithoutEscapes(String path, String name) {
        prefix("/").guard("package", PathType.PATH_PREFIX, "/a%2Fb");
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/a/b"));
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/a/b."));
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/a/b;x"));

        assertThat(path(path)).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a/b.", "/a/b;x"})
    void anOpenRuleWithEscapesDoesNotHideAGuardOfThePlainPath(String path) {
        prefix("/");
        add("open", List.of(), MatchConfig.path(PathType.EXACT, "/a%2Fb"));
        guard("secret", PathType.EXACT, "/a/b");

        assertThat(path(path)).isEqualTo("secret");
    }

    /** All but some paths are refused: what is allowed in every reading stays allowed. */
    @ParameterizedTest
    @CsvSource({
        "/npm/@scope%2Fname,prefix /npm",
        "/npm;v=1/x,all",
        "/npm%2Fx,all",
        "/npm/x;v=1,prefix /npm",
        "/other%2Fnpm,all",
    })
    void whatIsAllowedInEveryReadingIsAllowed(String path, String name) {
        prefix("/npm").guard("all", PathType.PATH_PREFIX, "/");

        assertThat(path(path)).isEqualTo(name);
    }

    /** To many frameworks a slash at the end makes no difference, unless a rule says otherwise. */
    @ParameterizedTest
    @CsvSource({
        "/exact,exact",
        "/exact/,exact",
        "/exact/?q=/x,exact",
        "/exact%2F,exact",
        "/exact;x/,exact",
        "/exact/;x,exact",
        "/exact./,exact",
        "/exact/x,prefix /",
        "/exact/x/,prefix /",
        "/,root",
        "/repos/a/,regex",
        "/repos/a/b/,prefix /",
        "/a%20b/,space",
        "/caf%C3%A9/,cafe",
        "/files/,open",
        "/files%2F,prefix /",
        "/team/,open",
        "/team;x/,prefix /",
        "/both,both",
        "/both/,both",
        "/all/,all"
    })
    void aRouteThatGuardsAPathGuardsItWithASlashToo(String path, String name) {
        prefix("/").guard("root", PathType.EXACT, "/").guard("exact", PathType.EXACT, "/exact");
        guard("regex", PathType.REGULAR_EXPRESSION, "/repos/[^/]+").guard("space", PathType.EXACT, "/a%20b");
        guard("cafe", PathType.REGULAR_EXPRESSION, "/caf%C3%A9").guard("files", PathType.EXACT, "/files");
        add("open", List.of(), MatchConfig.path(PathType.PATH_PREFIX, "/files/"));
        guard("team", PathType.EXACT, "/team");
        add("open", List.of(), MatchConfig.path(PathType.EXACT, "/team/"));
        guard("both", PathType.PATH_PREFIX, "/both").guard("all", PathType.REGULAR_EXPRESSION, "/all/?");

        assertThat(path(path)).isEqualTo(name);
    }

    /** An application may redirect between the two. */
    @Test
    void aRouteThatOnlyLimitsAPathDoesNotLimitItWithASlash() {
        Route limited = new Route(
                "limited",
                List.of(new BodyLimit(1), new TimedFilter(new BodyLimit(1), new FilterTimes())),
                Route.Forwarding.NONE,
                Route.Timeouts.NONE,
                Route.Upgrades.NONE);
        prefix("/").guard("exact", PathType.EXACT, "/exact");
        builder.add(List.of(), List.of(MatchConfig.path(PathType.EXACT, "/login")), limited);

        assertThat(path("/login")).isEqualTo("limited");
        assertThat(path("/login/")).isEqualTo("prefix /");
        assertThat(path("/exact/")).isEqualTo("exact");
    }

    @Test
    void whereNothingIsForwardedTheSlashMakesADifference() {
        guard("exact", PathType.EXACT, "/exact");
        add("post", List.of(), Matches.of(PathType.PATH_PREFIX, "/", "POST", List.of(), List.of()));

        assertThat(path("/exact/")).isNull();
        assertThat(matched(Heads.request("POST", "a.com", "/exact/"))).isEqualTo("exact");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/admin%2Fx", "/admin;a=1/x"})
    void aRouteThatDoesNotGuardTakesWhatIsWritten(String path) {
        prefix("/").prefix("/admin");

        assertThat(path(path)).isEqualTo("prefix /");
    }
}
