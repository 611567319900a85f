import { generateKeyPair } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { TokenIssuer } from "../api/token-issuer.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { signToken } from "../auth/service-accounts/json-web-token.ts";
import {
  parseSigningKey,
  parseVerifyingKeys,
  type SigningKey,
  signingKey,
  type VerifyingKey,
} from "../auth/service-accounts/keys.ts";
import { labelSecret } from "../auth/service-accounts/label-secret.ts";
import {
  CONFIGURATION_PATH,
  issuerProblem,
  KEYS_PATH,
  openIdConfiguration,
  openIdKeys,
} from "../auth/service-accounts/openid.ts";
import { AccountTokenAuthenticator } from "../auth/service-accounts/token-authenticator.ts";
import type { OpenIdDocument } from "../endpoints/openid.ts";
import { whileLocked } from "../http/folder-lock.ts";
import { writeWhole } from "../http/private-file.ts";
import type { Log } from "../lib/environment.ts";
import type { ObjectClient } from "../resources/object-client.ts";
import type { Resources } from "../resources/resources.ts";
import type { AccountTokenConfig, Config } from "./config.ts";

/** What tokens of service accounts are signed and verified with. */
export interface AccountTokens {
  readonly issuer: TokenIssuer;
  /** All issuers whose tokens are taken; the first signs. */
  readonly issuers: readonly string[];
  readonly keys: readonly VerifyingKey[];
  /** Judges tokens by live objects. `client` acts as the server itself, once requests are served. */
  authenticator(resources: Resources, client: () => ObjectClient): Authenticator;
  /** What others verify tokens by; nothing when the issuer cannot be discovered. */
  documents(externalAddress: () => string): OpenIdDocument[];
}

/**
 * Reads the configured keys, or makes one, in `--cert-dir` if there is one, once; a key that is given takes their place. Compat: `StaticPublicKeysGetter` does not follow the files of
 * `--service-account-key-file` either; new keys need a restart.
 */
export async function prepareAccountTokens(config: Config, log: Log, given?: SigningKey): Promise<AccountTokens> {
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
      const report = (error: unknown) => log.error("the last use of a token could not be noted", { err: error });
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
        log.warn("tokens of service accounts cannot be discovered by OpenID", { reason: problem });
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

/** Compat: what `completeServiceAccountOptions` and `BuiltInAuthenticationOptions.Validate` refuse. */
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
    throw new Error("--service-account-signing-key-file is needed with --service-account-key-file");
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

async function readKeys({ certDir, serviceAccounts: { signingKeyFile, keyFiles } }: Config): Promise<Keys> {
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
  // One that lives no longer than the process is made at every start, and this kind in no time.
  return signingKey((await promisify(generateKeyPair)("ec", { namedCurve: "P-256" })).privateKey);
}

/**
 * The key in the file, made when there is none. It is an RSA key: signatures of RS256 are verified in a quarter of the
 * time that ES256 takes, and tokens are verified far more often than signed.
 */
async function ensureSigningKey(file: string): Promise<SigningKey> {
  const known = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return "";
  });
  // A full disk may have left an empty file behind.
  if (known !== "") return parseSigningKey(known);
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  await writeWhole(file, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return signingKey(privateKey);
}
