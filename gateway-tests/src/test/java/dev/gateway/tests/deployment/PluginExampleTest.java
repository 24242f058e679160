package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page about plugins shows the files of the example project as they are. */
class PluginExampleTest {
    private static final Path DOCS = Path.of("../docs");
    private static final Path PROJECT = DOCS.resolve("plugin-example");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "src/main/java/com/example/AddGreetingPlugin.java",
                "src/main/resources/META-INF/services/dev.gateway.filter.FilterPlugin",
                "src/test/java/com/example/AddGreetingPluginTest.java"
            })
    void theFileIsShownInWholeBelowItsName(String name) throws IOException {
        String page = page();
        int start = page.indexOf("\n`" + name + "`");
        assertThat(start).isPositive();
        int code = page.indexOf("\n", page.indexOf("\n```", start) + 1) + 1;
        assertThat(page.substring(code, page.indexOf("```\n", code)))
                .isEqualTo(Files.readString(PROJECT.resolve(name)));
    }

    @Test
    void theDependenciesAreThoseOfThePom() throws IOException {
        Matcher shown = Pattern.compile("```xml\n(.*?)```", Pattern.DOTALL).matcher(page());
        assertThat(shown.find()).isTrue();
        assertThat(Files.readString(PROJECT.resolve("pom.xml")))
                .contains(shown.group(1).indent(2));
    }

    /** A quick build skips tests by a property alone, which the command sets back: so it compiles the test kit. */
    @Test
    void theCommandOfThePageMakesTheTestKit() throws IOException {
        assertThat(page()).contains("$ mvn -q -DskipTests -Dmaven.test.skip=false install\n");
        Matcher quick = Pattern.compile("<activation><property><name>skipTests<(.*?)</profile>", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../pom.xml")));
        assertThat(quick.find()).isTrue();
        assertThat(quick.group(1))
                .contains("<properties><maven.test.skip>true</maven.test.skip></properties>")
                .doesNotContain("<build>", "<modules>");
    }

    private static String page() throws IOException {
        return Files.readString(DOCS.resolve("plugins.md"));
    }
}
