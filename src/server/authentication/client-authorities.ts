import type { TrustedAuthorities } from "../../auth/x509/chain-verifier.ts";
import type { Environment } from "../../lib/environment.ts";
import type { Config } from "../config.ts";
import { AuthorityFile, openAuthorityFile } from "./authority-file.ts";

/** Who vouches for the certificates of clients. */
export interface ClientAuthorities {
  /** For those who speak for themselves. Absent: nobody. */
  readonly clients: TrustedAuthorities | undefined;
  /** For proxies that speak for others. Absent: nobody. */
  readonly proxies: TrustedAuthorities | undefined;
  /** All of them, in PEM; undefined when there are none. */
  text(): string | undefined;
  onChange(listener: () => void): void;
  close(): void;
}

/**
 * Reads `--client-ca-file` and `--requestheader-client-ca-file`, and follows them. Without the first one, the authority that
 * signed the administrator's certificate vouches for clients. Rejects when a file holds no certificates.
 */
export async function openClientAuthorities(
  { clientCaFile, authentication: { frontProxy } }: Pick<Config, "clientCaFile" | "authentication">,
  ownAuthority: string | undefined,
  environment: Environment,
): Promise<ClientAuthorities> {
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const own = ownAuthority === undefined ? undefined : new AuthorityFile(ownAuthority, "the own authority");
  const clients = clientCaFile === undefined ? own : await openAuthorityFile(clientCaFile);
  const proxies = frontProxy && (await openAuthorityFile(frontProxy.clientCaFile));
  if (clients && proxies && frontProxy.allowedNames.length === 0 && overlap(clients, proxies)) {
    throw new Error(OVERLAP);
  }
  const watched = [
    ...(clients && clientCaFile !== undefined ? [clients.watch(clientCaFile, environment, changed)] : []),
    ...(proxies ? [proxies.watch(frontProxy.clientCaFile, environment, changed)] : []),
  ];
  return {
    clients,
    proxies,
    text: () => [clients, proxies].flatMap((file) => file?.text ?? []).join("\n") || undefined,
    onChange: (listener) => listeners.push(listener),
    close() {
      for (const file of watched) file.close();
    },
  };
}

// Compat: the text of `BuiltInAuthenticationOptions.Validate`.
const OVERLAP =
  "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users";

function overlap(one: TrustedAuthorities, other: TrustedAuthorities): boolean {
  return one.current.some(({ raw }) => other.current.some((certificate) => certificate.raw.equals(raw)));
}
