import { ANONYMOUS } from "./authenticated-group.ts";
import type { Authenticated, Authenticator } from "./authenticator.ts";

const USER: Authenticated["user"] = { name: ANONYMOUS, groups: ["system:unauthenticated"] };

/**
 * Takes everybody for system:anonymous; with `paths`, only on those. Whoever showed wrong credentials must be refused
 * before he is asked: see `unlessRefused`.
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
