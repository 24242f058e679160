/** The admin listener: health, statistics, metrics. */
@NullMarked
package dev.gateway.admin;

import org.jspecify.annotations.NullMarked;
