import type { Environment } from "../../../base/util/environment.ts";
import type { AuthenticationConfig } from "../options.ts";
import type { TrustedCAs } from "../x509/chain-verifier.ts";
import { CAFile, openCAFile } from "./ca-file.ts";

/** CAs that client certificates are verified against. */
export interface ClientCAs {
  /** For ordinary clients. Undefined if they cannot use certificates. */
  readonly clients: TrustedCAs | undefined;
  /** For authenticating proxies. Undefined if there are none. */
  readonly proxies: TrustedCAs | undefined;
  /** All CA certificates in PEM. Undefined if there are none. */
  text(): string | undefined;
  onChange(listener: () => void): void;
  close(): void;
}

/**
 * Reads `--client-ca-file` and `--requestheader-client-ca-file`, and watches them. Without the first one, clients are
 * verified against the CA that signed the administrator's certificate. Rejects if a file contains no certificates.
 */
export async function openClientCAs(
  {
    clientCaFile,
    authentication: { frontProxy },
  }: { readonly clientCaFile?: string; readonly authentication: AuthenticationConfig },
  ownAuthority: string | undefined,
  environment: Environment,
): Promise<ClientCAs> {
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const own = ownAuthority === undefined ? undefined : new CAFile(ownAuthority, "the server's own CA");
  const clients = clientCaFile === undefined ? own : await openCAFile(clientCaFile);
  const proxies = frontProxy && (await openCAFile(frontProxy.clientCaFile));
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

// Compat: the message of `BuiltInAuthenticationOptions.Validate`.
const OVERLAP =
  "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users";

function overlap(one: TrustedCAs, other: TrustedCAs): boolean {
  return one.current.some(({ raw }) => other.current.some((certificate) => certificate.raw.equals(raw)));
}
