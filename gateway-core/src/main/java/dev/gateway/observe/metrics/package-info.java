/** What event loops count by listener, route and upstream, and how metrics and statistics show it. */
@NullMarked
package dev.gateway.observe.metrics;

import org.jspecify.annotations.NullMarked;
