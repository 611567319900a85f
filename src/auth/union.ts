import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";

/**
 * Asks one authenticator after the other; the first that recognises the credentials is believed. That another one has
 * refused them does not matter then. When nobody recognises them, all refusals are told together.
 */
export function union(authenticators: readonly Authenticator[]): Authenticator {
  const [only] = authenticators;
  if (only && authenticators.length === 1) return only;
  return {
    async authenticate(credentials: Credentials): Promise<Authenticated | undefined> {
      let errors: unknown[] | undefined;
      for (const authenticator of authenticators) {
        try {
          const found = await authenticator.authenticate(credentials);
          if (found) return found;
        } catch (error) {
          errors ??= [];
          errors.push(error);
        }
      }
      if (errors) throw joinErrors(errors);
      return undefined;
    },
  };
}

/** Asks one authenticator after the other. The first refusal is final: nobody with a wrong token is anonymous. */
export function unlessRefused(authenticators: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(credentials: Credentials): Promise<Authenticated | undefined> {
      for (const authenticator of authenticators) {
        const found = await authenticator.authenticate(credentials);
        if (found) return found;
      }
      return undefined;
    },
  };
}

/** Several refusals in one. Compat: `NewAggregate` prints every text once, and brackets only around several. */
export function joinErrors(errors: readonly unknown[]): AuthenticationError {
  const causes = errors.flatMap((error) => (error instanceof AuthenticationErrors ? error.errors : [error]));
  const texts = [...new Set(causes.map((error) => (error instanceof Error ? error.message : String(error))))];
  const [first = ""] = texts;
  return new AuthenticationErrors(texts.length === 1 ? first : `[${texts.join(", ")}]`, causes);
}

class AuthenticationErrors extends AuthenticationError {
  readonly errors: readonly unknown[];

  constructor(message: string, errors: readonly unknown[]) {
    super(message);
    this.errors = errors;
  }

  override get isExpected(): boolean {
    return this.errors.every((error) => error instanceof AuthenticationError && error.isExpected);
  }
}
