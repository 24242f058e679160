package dev.gateway.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * Seeds of a parameterized test that draws at random: 1, 2 and so on. {@code -Dseeds.factor=100} runs a hundred times as
 * many.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(Seeds.FromOne.class)
public @interface Seeds {
    /** How many there are. */
    int value();

    /** Counts from 1. */
    final class FromOne implements ArgumentsProvider, AnnotationConsumer<Seeds> {
        private static final int FACTOR = Integer.getInteger("seeds.factor", 1);

        private long last;

        @Override
        public void accept(Seeds seeds) {
            last = (long) seeds.value() * FACTOR;
        }

        @Override
        public Stream<? extends Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context) {
            return LongStream.rangeClosed(1, last).mapToObj(Arguments::of);
        }
    }
}
