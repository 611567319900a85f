import { anonymous } from "../auth/anonymous.ts";
import { audienceAgnostic } from "../auth/audiences.ts";
import { addAuthenticatedGroup } from "../auth/authenticated-group.ts";
import { AuthenticationError, type Authenticator } from "../auth/authenticator.ts";
import { bearerToken, ownToken } from "../auth/bearer-token.ts";
import { TokenAuthenticator } from "../auth/token-file.ts";
import { union, unlessRefused } from "../auth/union.ts";
import { ClientCertificates } from "../auth/x509/client-certificates.ts";
import type { Environment, Log } from "../lib/environment.ts";
import { AuthorityFile, openAuthorityFile } from "./authority-file.ts";
import type { Config } from "./config.ts";
import type { Identity } from "./identity.ts";

/** Who is calling: everything that authenticates requests. */
export interface Authentication {
  readonly authenticator: Authenticator;
  /** Those who sign client certificates, in PEM; undefined when none is accepted. */
  clientAuthority(): string | undefined;
  /** Called when `clientAuthority` has changed. */
  onChange(listener: () => void): void;
  /** Files are no longer followed. */
  close(): void;
}

/** What authentication is made of. */
export interface AuthenticationParts {
  readonly config: Config;
  readonly identity: Pick<Identity, "admin" | "tokens" | "ownAuthority">;
  readonly environment: Environment;
  /** Knows tokens of service accounts. */
  readonly accounts: Authenticator;
  /** For whom tokens are that name nobody. */
  readonly audiences: readonly string[];
}

/** Makes the authenticators that are configured. Rejects when a file cannot be read. */
export async function prepareAuthentication(parts: AuthenticationParts): Promise<Authentication> {
  const { config, identity, environment, audiences, accounts } = parts;
  const listeners: (() => void)[] = [];
  const closing: { close(): unknown }[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const authorities = await clientAuthorities(config, identity);
  if (authorities && config.clientCaFile !== undefined) {
    closing.push(authorities.watch(config.clientCaFile, environment, changed));
  }

  // Compat: the order of `authenticator.Config.New`.
  const tokens = bearerToken(
    addAuthenticatedGroup(union([audienceAgnostic(audiences, new TokenAuthenticator(identity.tokens)), accounts])),
  );
  const known = union([...(authorities ? [new ClientCertificates(authorities, environment.clock)] : []), tokens]);
  const everybody = config.anonymousAuth ? unlessRefused([known, anonymous()]) : known;

  return {
    authenticator: ownToken(identity.admin, audiences, everybody),
    clientAuthority: () => authorities?.text,
    onChange: (listener) => listeners.push(listener),
    close() {
      for (const part of closing) part.close();
    },
  };
}

/** Those of `--client-ca-file`; without it the authority that signed the administrator's certificate. */
async function clientAuthorities(
  { clientCaFile }: Config,
  { ownAuthority }: AuthenticationParts["identity"],
): Promise<AuthorityFile | undefined> {
  if (clientCaFile !== undefined) return openAuthorityFile(clientCaFile);
  return ownAuthority === undefined ? undefined : new AuthorityFile(ownAuthority, "the own authority");
}

/** Tells the operator why a request was refused, which the caller does not hear. */
export function logRefusal(log: Log, error: unknown): void {
  if (error instanceof AuthenticationError && error.isExpected) {
    log.info("Unable to authenticate the request", { reason: error.message });
  } else log.error("Unable to authenticate the request", { err: error });
}
