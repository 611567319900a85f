import type { Clock } from "../lib/clock.ts";
import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";
import type { ProxyHeaders } from "./credential-headers.ts";
import { CertificateError } from "./x509/certificate.ts";
import { ChainVerifier, type TrustedAuthorities } from "./x509/chain-verifier.ts";
import { commonNameOf } from "./x509/client-certificates.ts";

/** What an authenticating proxy says, and which one may: the `--requestheader-*` flags. */
export interface FrontProxyOptions {
  /** Common names of certificates. Empty: all that the authority vouches for. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** The headers by which a proxy speaks for others. */
export function proxyHeaders(options: FrontProxyOptions): ProxyHeaders {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = options;
  return {
    names: [...usernameHeaders, ...uidHeaders, ...groupHeaders].map((name) => name.toLowerCase()),
    prefixes: extraHeaderPrefixes.map((prefix) => prefix.toLowerCase()),
  };
}

/** Believes the headers of a proxy that shows a certificate of `--requestheader-client-ca-file`. */
export class FrontProxy implements Authenticator {
  readonly #options: FrontProxyOptions;
  readonly #verifier: ChainVerifier<true>;

  constructor(authorities: TrustedAuthorities, clock: Pick<Clock, "now">, options: FrontProxyOptions) {
    const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());
    const { allowedNames } = options;
    this.#options = {
      allowedNames,
      usernameHeaders: lower(options.usernameHeaders),
      uidHeaders: lower(options.uidHeaders),
      groupHeaders: lower(options.groupHeaders),
      extraHeaderPrefixes: lower(options.extraHeaderPrefixes),
    };
    this.#verifier = new ChainVerifier(authorities, clock, ([leaf]) => {
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

/** Compat: `headerValue` looks at the first field of each name only, and takes the first that is not empty. */
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

/** Compat: `unescapeExtraKey` leaves what is not percent-encoded well as it is. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
