/** What is recorded of exchanges: access log and metrics. */
@NullMarked
package dev.gateway.observe;

import org.jspecify.annotations.NullMarked;
