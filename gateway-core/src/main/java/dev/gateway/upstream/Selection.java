package dev.gateway.upstream;

import java.util.List;
import java.util.function.Predicate;

/**
 * Which endpoints of an upstream get requests: those in service or, if these are too few, all that do not drain (panic
 * mode).
 *
 * @param panic whether too few are in service
 */
record Selection(List<Host> hosts, boolean panic) {
    private static final int ALL = 100;

    static Selection of(List<Host> all, int panicThreshold) {
        List<Host> inService = those(all, Host::isInService);
        List<Host> candidates = those(all, host -> !host.draining);
        if ((long) inService.size() * ALL < (long) candidates.size() * panicThreshold) {
            return new Selection(candidates, true);
        } else if (!inService.isEmpty()) {
            return new Selection(inService, false);
        }
        List<Host> well = those(all, Host::isWell); // ejected, but they pass their checks, so they may have recovered
        return new Selection(well.isEmpty() ? candidates : well, false); // if none passes, the checks may be wrong
    }

    private static List<Host> those(List<Host> all, Predicate<Host> wanted) {
        return all.stream().filter(wanted).toList();
    }
}
