/** The configuration an operator wrote, validated and immutable. */
@NullMarked
package dev.gateway.config;

import org.jspecify.annotations.NullMarked;
