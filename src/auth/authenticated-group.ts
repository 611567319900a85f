import type { Authenticated, Authenticator } from "./authenticator.ts";

const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";
/** Who asks without credentials. */
export const ANONYMOUS = "system:anonymous";

/** Compat: `AuthenticatedGroupAdder` adds system:authenticated to whom it is not said of already. */
export function withAuthenticatedGroup(found: Authenticated): Authenticated {
  const { name, groups } = found.user;
  if (name === ANONYMOUS || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)) return found;
  return { ...found, user: { ...found.user, groups: [...groups, AUTHENTICATED] } };
}

/** Whoever is recognised is of the group system:authenticated. */
export function addAuthenticatedGroup(authenticator: Authenticator): Authenticator {
  return {
    async authenticate(credentials) {
      const found = await authenticator.authenticate(credentials);
      return found && withAuthenticatedGroup(found);
    },
  };
}
