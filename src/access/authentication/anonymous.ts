import { ANONYMOUS } from "./authenticated-group.ts";
import type { Authenticated, Authenticator } from "./authenticator.ts";

const USER: Authenticated["user"] = { name: ANONYMOUS, groups: ["system:unauthenticated"] };

/**
 * Authenticates every request as system:anonymous. If `paths` is given, only requests for these paths. Run it only
 * after all other authenticators had no opinion, so that wrong credentials are rejected first: see `unlessRefused`.
 */
export function anonymous(paths?: readonly string[]): Authenticator {
  const allowed = paths && new Set(paths);
  return {
    authenticate({ path = "", audiences }) {
      if (allowed && !allowed.has(path)) return undefined;
      return { user: USER, ...(audiences ? { audiences } : {}) };
    },
  };
}
