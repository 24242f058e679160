package dev.gateway.upstream.discovery;

import dev.gateway.net.dns.ServiceRecord;
import dev.gateway.upstream.EndpointSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Endpoints of SRV records (RFC 2782): the addresses of the lowest priority that has any, weighted like their records. */
final class ServiceEndpoints {
    /** Maximum number of endpoints; further ones are ignored. */
    private static final int MOST = 1000;

    private ServiceEndpoints() {}

    /**
     * Returns the records of the lowest priority that has addresses, without those that have none.
     *
     * @param records in the order of their priorities
     * @param addresses returns the addresses of a record
     */
    static List<ServiceRecord> usable(
            List<ServiceRecord> records, Function<ServiceRecord, List<EndpointSpec>> addresses) {
        List<ServiceRecord> usable = new ArrayList<>();
        for (ServiceRecord record : records) {
            if (!usable.isEmpty() && usable.get(0).priority() != record.priority()) {
                break;
            }
            if (!addresses.apply(record).isEmpty()) {
                usable.add(record);
            }
        }
        return usable;
    }

    /**
     * Returns the endpoints of records.
     *
     * @param usable records that have addresses
     * @param source the source as pages show it
     */
    static List<EndpointSpec> of(
            List<ServiceRecord> usable, Function<ServiceRecord, List<EndpointSpec>> addresses, String source) {
        long light = usable.stream().filter(record -> record.weight() == 0).count();
        List<EndpointSpec> endpoints = new ArrayList<>();
        for (ServiceRecord record : usable) {
            List<EndpointSpec> of = addresses.apply(record);
            double weight = record.weight() > 0 ? record.weight() : weightOfLight(light, usable.size());
            of.forEach(address -> endpoints.add(address.in(weight / of.size(), null, source)));
        }
        return endpoints.size() > MOST ? List.copyOf(endpoints.subList(0, MOST)) : endpoints;
    }

    /** By the algorithm of RFC 2782, records of weight 0 together have the share of a weight of 1, unless all have 0. */
    private static double weightOfLight(long light, int all) {
        return light == all ? 1 : 1.0 / light;
    }
}
