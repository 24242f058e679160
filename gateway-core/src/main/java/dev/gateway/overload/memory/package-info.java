/** Memory by who holds it: budgets, the accounts of connections and clients, and what things cost. */
@NullMarked
package dev.gateway.overload.memory;

import org.jspecify.annotations.NullMarked;
