import type { Authenticator } from "./authenticator.ts";

/** The audiences of `wanted` that are also in `given`, in the order of `wanted`. */
export function commonAudiences(given: readonly string[], wanted: readonly string[]): readonly string[] {
  return wanted.filter((audience) => given.includes(audience));
}

/**
 * Wraps an authenticator whose credentials name no audience: they count as issued for the audiences `own`. Compat:
 * `WrapAudienceAgnosticToken`.
 */
export function audienceAgnostic(own: readonly string[], authenticator: Authenticator): Authenticator {
  return {
    async authenticate(credentials) {
      const { audiences: wanted } = credentials;
      if (wanted === undefined) return authenticator.authenticate(credentials);
      const audiences = commonAudiences(own, wanted);
      if (audiences.length === 0) return undefined;
      const found = await authenticator.authenticate(credentials);
      return found && { ...found, audiences };
    },
  };
}
