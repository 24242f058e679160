/** The configuration an operator wrote, validated and immutable. Its larger sections have packages of their own. */
@NullMarked
package dev.gateway.config;

import org.jspecify.annotations.NullMarked;
