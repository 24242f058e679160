package dev.gateway.assembly;

import dev.gateway.config.AccessConfig;
import dev.gateway.config.Position;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterFile;
import dev.gateway.filter.FilterSite;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.auth.ApiKey;
import dev.gateway.filter.auth.ApiKeys;
import dev.gateway.filter.auth.AuthFileException;
import dev.gateway.filter.auth.AuthWork;
import dev.gateway.filter.auth.BasicAuth;
import dev.gateway.filter.auth.KeyPlace;
import dev.gateway.filter.auth.UserAccounts;
import dev.gateway.process.StartException;
import java.nio.file.Path;
import java.util.List;

/** Makes filters that decide who may use a route. */
final class AccessFilters {
    private AccessFilters() {}

    /** Key of the API keys of a file. */
    private record Keys(Path file) {}

    /** Key of the users of a file. */
    private record Users(Path file) {}

    /** Users of a file; it is looked at also while nobody logs in, so that its mistakes are told. */
    record AccountState(UserAccounts accounts) implements FilterStates.Watched {
        @Override
        public void look() {
            accounts.refresh();
        }

        @Override
        public List<String> problems() {
            return accounts.problems();
        }
    }

    static Filter basicAuth(AccessConfig.BasicAuth config, FilterSite site) throws StartException {
        AccountState state = site.states()
                .get(
                        new Users(config.usersFile()),
                        AccountState.class,
                        () -> accounts(config.position(), config.usersFile(), site));
        return new BasicAuth(state.accounts(), config.realm(), config.forwardAuthorization());
    }

    private static AccountState accounts(Position position, Path usersFile, FilterSite site) throws StartException {
        try {
            return new AccountState(new UserAccounts(usersFile, AuthWork.of(site.services())));
        } catch (AuthFileException e) {
            throw StartException.at(position, e);
        }
    }

    static Filter apiKey(AccessConfig.ApiKey config, FilterSite site) throws StartException {
        KeyPlace place = KeyPlace.of(config.place(), config.name());
        Path file = config.keysFile();
        FilterFile.Use use = new FilterFile.Use(config.position(), "APIKey", "keys");
        FilterFile<ApiKeys> keys = FilterFile.of(new Keys(file), file, ApiKeys::read, use, site.states());
        return new ApiKey(place, keys, config.realm(), config.forwardKey());
    }
}
