package dev.gateway.filter.clientcertificate;

import dev.gateway.config.yaml.schema.filter.FilterType;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFeature;
import dev.gateway.filter.FilterSite;

/** Filter type ClientCertificate. */
public final class ClientCertificateFeature implements FilterFeature<ClientCertificateConfig> {
    static final String NAME = "ClientCertificate";

    private static final FilterType<ClientCertificateConfig, ?> TYPE = FilterType.of(
                    NAME, "clientCertificate", ClientCertificateConfig.class, ClientCertificateSchema.SETTINGS)
            .checkedBy(ClientCertificateSchema::check)
            .alsoCalled("passtlsclientcert"); // Traefik

    @Override
    public FilterType<ClientCertificateConfig, ?> type() {
        return TYPE;
    }

    @Override
    public Filter create(ClientCertificateConfig config, FilterSite site) {
        return new ClientCertificate(config);
    }
}
