/** The process: start, reload, drain, and the one place that turns configuration into what runs. */
@NullMarked
package dev.gateway;

import org.jspecify.annotations.NullMarked;
