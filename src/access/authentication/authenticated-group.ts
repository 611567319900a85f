import type { Authenticated, Authenticator } from "./authenticator.ts";

const AUTHENTICATED = "system:authenticated";
const UNAUTHENTICATED = "system:unauthenticated";
/** User name of requests without credentials. */
export const ANONYMOUS = "system:anonymous";

/**
 * Adds the group system:authenticated to an authenticated user. Compat: `AuthenticatedGroupAdder` skips anonymous users
 * and users that have the group already.
 */
export function withAuthenticatedGroup(found: Authenticated): Authenticated {
  const { name, groups } = found.user;
  if (name === ANONYMOUS || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)) return found;
  return { ...found, user: { ...found.user, groups: [...groups, AUTHENTICATED] } };
}

/** Wraps an authenticator: adds the group system:authenticated to the users that it recognises. */
export function addAuthenticatedGroup(authenticator: Authenticator): Authenticator {
  return {
    async authenticate(credentials) {
      const found = await authenticator.authenticate(credentials);
      return found && withAuthenticatedGroup(found);
    },
  };
}
