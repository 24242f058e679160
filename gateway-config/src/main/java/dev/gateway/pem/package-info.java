/** Private keys in PEM files, as the configuration is checked with them and as connections use them. */
@NullMarked
package dev.gateway.pem;

import org.jspecify.annotations.NullMarked;
