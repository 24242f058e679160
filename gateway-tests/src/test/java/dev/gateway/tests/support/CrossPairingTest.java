package dev.gateway.tests.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A further case of a feature, over the two pairings that have each protocol on each side. One test of the feature runs over
 * all four, by {@code @ParameterizedTest} and {@code @EnumSource}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest
@EnumSource(
        value = Pairing.class,
        names = {"H1_TO_H2", "H2_TO_H1"})
public @interface CrossPairingTest {}
