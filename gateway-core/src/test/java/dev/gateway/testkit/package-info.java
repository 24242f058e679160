/** Test kit for plugins, published as a jar of its own: runs a filter in a gateway, and looks for what it leaves behind. */
@NullMarked
package dev.gateway.testkit;

import org.jspecify.annotations.NullMarked;
