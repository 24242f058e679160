package dev.gateway.config.yaml.schema.upstream;

import dev.gateway.config.yaml.type.FeatureList;

/** List of the sources of endpoints of the gateway. */
public interface SourceTypeList extends FeatureList<SourceType<?, ?>> {}
