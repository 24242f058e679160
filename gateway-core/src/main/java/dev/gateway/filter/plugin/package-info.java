/** Makes filters of plugins, and contains them: what they throw fails their own exchange, under a cause of its own. */
@NullMarked
package dev.gateway.filter.plugin;

import org.jspecify.annotations.NullMarked;
