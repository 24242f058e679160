/** What all sections of a configuration share: where values were written, which are masked, which say the same. */
@NullMarked
package dev.gateway.config.value;

import org.jspecify.annotations.NullMarked;
