import { generateKeyPair } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { TokenIssuer } from "../../../base/api/token-issuer.ts";
import { whileLocked } from "../../../base/files/folder-lock.ts";
import { readPrivate, writeWhole } from "../../../base/files/private-file.ts";
import type { Log } from "../../../base/util/environment.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import type { Resources } from "../../../resources/resources.ts";
import type { Authenticator } from "../authenticator.ts";
import { signToken } from "./json-web-token.ts";
import { parseSigningKey, parseVerifyingKeys, type SigningKey, signingKey, type VerifyingKey } from "./keys.ts";
import { labelSecret } from "./label-secret.ts";
import type { OpenIdDocument } from "./openid.ts";
import { CONFIGURATION_PATH, issuerProblem, KEYS_PATH, openIdConfiguration, openIdKeys } from "./openid.ts";
import type { AccountTokenConfig } from "./options.ts";
import { AccountTokenAuthenticator } from "./token-authenticator.ts";

/** Signing and verification of service account tokens. */
export interface AccountTokens {
  readonly issuer: TokenIssuer;
  /** All accepted issuers. The first one is used for signing. */
  readonly issuers: readonly string[];
  readonly keys: readonly VerifyingKey[];
  /**
   * Verifies tokens against live objects. `client` acts as the server itself; it is called only once requests are
   * served.
   */
  authenticator(resources: Resources, client: () => ObjectClient): Authenticator;
  /** The OpenID discovery documents. Empty if the issuer cannot be discovered. */
  documents(externalAddress: () => string): OpenIdDocument[];
}

/** The part of the server configuration that concerns service-account tokens. */
export interface AccountTokenOptions {
  readonly certDir?: string;
  readonly serviceAccounts: AccountTokenConfig;
}

/**
 * Reads the configured keys. Without any, generates a signing key: stored in `--cert-dir` if that is set, else in
 * memory. `given` replaces all of these. Compat: like `StaticPublicKeysGetter`, does not watch the files of
 * `--service-account-key-file`; new keys need a restart.
 */
export async function prepareAccountTokens(
  config: AccountTokenOptions,
  log: Log,
  given?: SigningKey,
): Promise<AccountTokens> {
  const options = config.serviceAccounts;
  checkOptions(options);
  const { signing, keys } = given ? onlyKey(given) : await readKeys(config);
  const { issuers, maxTokenExpirationMs, extendTokenExpiration, lookup, jwksUri } = options;
  const [first = ""] = issuers;
  const audiences = options.apiAudiences.length > 0 ? options.apiAudiences : issuers;
  const issuer: TokenIssuer = {
    issuer: first,
    audiences,
    maxExpirationSeconds: maxTokenExpirationMs / 1000,
    extendsExpiration: extendTokenExpiration,
    sign: (claims) => signToken(claims, signing),
  };
  return {
    issuer,
    issuers,
    keys,
    authenticator(resources, client) {
      const report = (error: unknown) =>
        log.error("recording the last use of a service account token failed", { err: error });
      const label = labelSecret(resources.catalog, client, report);
      return new AccountTokenAuthenticator({
        ...{ keys, issuers, audiences, lookup, label },
        clock: resources.clock,
        objects: resources,
      });
    },
    documents(externalAddress) {
      const problem = issuerProblem(first);
      if (problem !== undefined) {
        log.warn("OpenID discovery of service account tokens is disabled", { reason: problem });
        return [];
      }
      const keysUri = () => jwksUri ?? `https://${externalAddress()}${KEYS_PATH}`;
      const keySet = JSON.stringify(openIdKeys(keys));
      return [
        {
          path: CONFIGURATION_PATH,
          mediaType: "application/json",
          body: () => JSON.stringify(openIdConfiguration(first, keysUri(), keys)),
        },
        { path: KEYS_PATH, mediaType: "application/jwk-set+json", body: () => keySet },
      ];
    },
  };
}

const HOUR_MS = 3_600_000;

/** Compat: the checks of `completeServiceAccountOptions` and `BuiltInAuthenticationOptions.Validate`. */
function checkOptions({ issuers, maxTokenExpirationMs, jwksUri, keyFiles, signingKeyFile }: AccountTokenConfig): void {
  const seen = new Set<string>();
  for (const issuer of issuers) {
    if (issuer === "") throw new Error("service-account-issuer should not be an empty string");
    if (seen.has(issuer)) throw new Error(`service-account-issuer ${JSON.stringify(issuer)} is already specified`);
    seen.add(issuer);
  }
  const isTooShort = maxTokenExpirationMs !== 0 && maxTokenExpirationMs < HOUR_MS;
  if (isTooShort || maxTokenExpirationMs > 2 ** 32 * 1000) {
    throw new Error("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds");
  }
  if (jwksUri !== undefined && URL.parse(jwksUri)?.protocol !== "https:") {
    throw new Error(`service-account-jwks-uri requires https scheme, parsed as: ${jwksUri}`);
  }
  if (keyFiles.length > 0 && signingKeyFile === undefined) {
    throw new Error("--service-account-signing-key-file is required with --service-account-key-file");
  }
}

interface Keys {
  readonly signing: SigningKey;
  readonly keys: readonly VerifyingKey[];
}

function onlyKey(signing: SigningKey): Keys {
  const { id, algorithm, publicKey } = signing;
  return { signing, keys: [{ id, algorithm, key: publicKey }] };
}

async function readKeys({
  certDir,
  serviceAccounts: { signingKeyFile, keyFiles },
}: AccountTokenOptions): Promise<Keys> {
  const signing =
    signingKeyFile === undefined
      ? await madeKey(certDir)
      : await readAs(signingKeyFile, parseSigningKey, "failed to parse service-account-issuer-key-file");
  if (keyFiles.length === 0) return onlyKey(signing);
  const parsed = await Promise.all(
    keyFiles.map((file) => readAs(file, parseVerifyingKeys, `error reading public key file ${file}`)),
  );
  return { signing, keys: parsed.flat() };
}

async function readAs<T>(file: string, parse: (text: string) => T, problem: string): Promise<T> {
  const text = await readFile(file, "utf8");
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`${problem}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function madeKey(certDir: string | undefined): Promise<SigningKey> {
  if (certDir !== undefined) return whileLocked(certDir, () => ensureSigningKey(path.join(certDir, "sa.key")));
  // A key in memory is generated at every start, so it is one that is fast to generate.
  return signingKey((await promisify(generateKeyPair)("ec", { namedCurve: "P-256" })).privateKey);
}

/**
 * Reads the key from the file, or generates it if the file does not exist. It is an RSA key: verifying RS256 takes a
 * quarter of the time of ES256, and tokens are verified far more often than signed.
 */
async function ensureSigningKey(file: string): Promise<SigningKey> {
  const known = await readPrivate(file);
  // A full disk may have left an empty file behind.
  if (known) return parseSigningKey(known);
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  await writeWhole(file, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return signingKey(privateKey);
}
