package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.filter.FilterConfig;

/** Check of a filter type: whether a filter fits what else the configuration says. Reports to the scope of the site. */
public interface FilterCheck<C extends FilterConfig> {
    /** Reports what is wrong with a filter where it is. Called once for each that could be read. */
    void check(C filter, RuleSite site);
}
