package dev.gateway.assembly;

import dev.gateway.filter.auth.AuthWork;

/**
 * Filter site: where a filter is made, and what it may use there.
 *
 * @param rule what logs and metrics call the rule that has the filter
 * @param states what outlives the generation: contents of files, counts
 * @param work threads for what would hold up an event loop
 */
record FilterSite(String rule, FilterStates.Prepared states, AuthWork work) {}
