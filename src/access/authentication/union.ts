import type { Eventually } from "../../base/util/eventually.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";

/**
 * Runs the authenticators in order and returns the first user found. Errors of earlier authenticators do not matter
 * then. If none recognises the credentials, throws all errors joined.
 */
export function union(authenticators: readonly Authenticator[]): Authenticator {
  const [only] = authenticators;
  if (only && authenticators.length === 1) return only;
  const askFrom = (
    first: number,
    credentials: Credentials,
    errors: unknown[] = [],
  ): Eventually<Authenticated | undefined> => {
    for (let at = first; at < authenticators.length; at++) {
      try {
        const found = authenticators[at]?.authenticate(credentials);
        if (found instanceof Promise) {
          return found
            .catch((error: unknown) => void errors.push(error))
            .then((later) => later ?? askFrom(at + 1, credentials, errors));
        }
        if (found) return found;
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw joinErrors(errors);
    return undefined;
  };
  return { authenticate: (credentials) => askFrom(0, credentials) };
}

/**
 * Runs the authenticators in order. The first error is final, so a request with a wrong token never becomes anonymous.
 */
export function unlessRefused(authenticators: readonly Authenticator[]): Authenticator {
  const askFrom = (first: number, credentials: Credentials): Eventually<Authenticated | undefined> => {
    for (let at = first; at < authenticators.length; at++) {
      const found = authenticators[at]?.authenticate(credentials);
      if (found instanceof Promise) return found.then((later) => later ?? askFrom(at + 1, credentials));
      if (found) return found;
    }
    return undefined;
  };
  return { authenticate: (credentials) => askFrom(0, credentials) };
}

/**
 * Joins several errors. Compat: `NewAggregate` prints each distinct message once, and adds brackets only around
 * several.
 */
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
