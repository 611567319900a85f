import type { Authenticator } from "./authenticator.ts";

/** Those of the wanted audiences that are among the given ones, in the order in which they are wanted. */
export function commonAudiences(given: readonly string[], wanted: readonly string[]): readonly string[] {
  return wanted.filter((audience) => given.includes(audience));
}

/** Credentials that name no audience are meant for the server itself. Compat: `WrapAudienceAgnosticToken`. */
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
