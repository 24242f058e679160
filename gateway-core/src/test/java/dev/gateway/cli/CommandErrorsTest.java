package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** What the command line prints for an error in the gateway itself. */
class CommandErrorsTest {
    private static String told(Throwable failure) {
        StringWriter err = new StringWriter();
        assertThat(CommandErrors.internal(failure, new PrintWriter(err))).isEqualTo(70);
        return err.toString();
    }

    @Test
    void theFirstCauseIsNamedWithItsPlaceInTheGateway() {
        Exception first = new IllegalStateException("no such thing\nand more");
        first.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("java.util.Map", "of", "Map.java", 1),
            new StackTraceElement("dev.gateway.runtime.DataPlane", "start", "DataPlane.java", 42),
            new StackTraceElement("dev.gateway.cli.Main", "main", "Main.java", 7)
        });
        assertThat(told(new RuntimeException("outer", new RuntimeException("middle", first))))
                .isEqualTo("an error in the gateway itself ended it: java.lang.IllegalStateException: no such thing at "
                        + "dev.gateway.runtime.DataPlane.start(DataPlane.java:42)" + System.lineSeparator());
    }

    @Test
    void anErrorThatNeverPassedTheGatewayHasNoPlace() {
        Error error = new ClassFormatError("dev/gateway/A");
        error.setStackTrace(new StackTraceElement[0]);
        assertThat(told(error))
                .isEqualTo("an error in the gateway itself ended it: java.lang.ClassFormatError: dev/gateway/A"
                        + System.lineSeparator());
    }

    @Test
    void causesInACircleEnd() {
        Exception one = new Exception("one");
        Exception two = new Exception("two", one);
        one.initCause(two);
        assertThat(told(one)).startsWith("an error in the gateway itself ended it: java.lang.Exception: one");
    }
}
