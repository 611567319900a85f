import type { Clock } from "../../base/util/clock.ts";
import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";
import type { ProxyHeaders } from "./credential-headers.ts";
import { CertificateError } from "./x509/certificate.ts";
import { ChainVerifier, type TrustedCAs } from "./x509/chain-verifier.ts";
import { commonNameOf } from "./x509/client-certificates.ts";

/** Options of the authenticating proxy: the `--requestheader-*` flags. */
export interface FrontProxyOptions {
  /** Accepted common names of proxy certificates. Empty: every certificate of the CA is accepted. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Names of the headers with which the proxy names the user. */
export function proxyHeaders(options: FrontProxyOptions): ProxyHeaders {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = options;
  return {
    names: [...usernameHeaders, ...uidHeaders, ...groupHeaders].map((name) => name.toLowerCase()),
    prefixes: extraHeaderPrefixes.map((prefix) => prefix.toLowerCase()),
  };
}

/** Trusts the user headers of a proxy that presents a certificate of `--requestheader-client-ca-file`. */
export class FrontProxy implements Authenticator {
  readonly #options: FrontProxyOptions;
  readonly #verifier: ChainVerifier<true>;

  constructor(roots: TrustedCAs, clock: Pick<Clock, "now">, options: FrontProxyOptions) {
    const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());
    const { allowedNames } = options;
    this.#options = {
      allowedNames,
      usernameHeaders: lower(options.usernameHeaders),
      uidHeaders: lower(options.uidHeaders),
      groupHeaders: lower(options.groupHeaders),
      extraHeaderPrefixes: lower(options.extraHeaderPrefixes),
    };
    this.#verifier = new ChainVerifier(roots, clock, ([leaf]) => {
      const name = leaf ? commonNameOf(leaf) : "";
      if (allowedNames.length === 0 || allowedNames.includes(name)) return true;
      throw new CertificateError(`x509: subject with cn=${name} is not in the allowed list`);
    });
  }

  authenticate({ certificateChain, headers }: Credentials): Authenticated | undefined {
    if (certificateChain === undefined || certificateChain.length === 0) return undefined;
    this.#verifier.verify(certificateChain);
    const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = this.#options;
    const name = firstOf(headers, usernameHeaders);
    if (name === "") return undefined;
    const uid = firstOf(headers, uidHeaders);
    const groups = groupHeaders.flatMap((header) => valuesOf(headers, header)).filter((group) => group !== "");
    const extra = extraOf(headers, extraHeaderPrefixes);
    return { user: { name, ...(uid === "" ? {} : { uid }), groups, ...(extra ? { extra } : {}) } };
  }
}

function valuesOf(headers: Credentials["headers"], name: string): readonly string[] {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === "string" ? [value] : (value ?? []);
}

/** Compat: `headerValue` looks only at the first field of each name, and returns the first value that is not empty. */
function firstOf(headers: Credentials["headers"], names: readonly string[]): string {
  for (const name of names) {
    const [value = ""] = valuesOf(headers, name);
    if (value !== "") return value;
  }
  return "";
}

function extraOf(headers: Credentials["headers"], prefixes: readonly string[]): Record<string, string[]> | undefined {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const name in headers) {
      if (!name.startsWith(prefix)) continue;
      const key = decodeKey(name.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), ...valuesOf(headers, name)]);
    }
  }
  return extra.size === 0 ? undefined : Object.fromEntries(extra);
}

/** Compat: `unescapeExtraKey` returns a key with invalid percent-encoding unchanged. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
