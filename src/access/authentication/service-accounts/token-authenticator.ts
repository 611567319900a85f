import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { commonAudiences } from "../audiences.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "../authenticator.ts";
import { validateBound } from "./bound-tokens.ts";
import { kubernetesClaims, type PublicClaims, publicClaims } from "./claims.ts";
import { isSignedBy, parseToken, type UnverifiedToken } from "./json-web-token.ts";
import type { VerifyingKey } from "./keys.ts";
import { LEGACY_ISSUER, validateLegacy } from "./legacy-tokens.ts";
import { LiveObjects, type ObjectSource } from "./live-objects.ts";

/** Options of an AccountTokenAuthenticator. */
export interface AccountTokenOptions {
  readonly keys: readonly VerifyingKey[];
  /** `--service-account-issuer`, all values. */
  readonly issuers: readonly string[];
  /** `--api-audiences`. */
  readonly audiences: readonly string[];
  /** `--service-account-lookup`. */
  readonly lookup: boolean;
  readonly clock: Clock;
  readonly objects: ObjectSource;
  /** Sets a label of a Secret. Never rejects. */
  label(secret: KubeObject, name: string, value: string): Promise<void>;
}

/**
 * Authenticates service accounts by tokens from TokenRequests and from Secrets. A token becomes invalid with the
 * deletion of the objects that it depends on.
 */
export class AccountTokenAuthenticator implements Authenticator {
  readonly #options: AccountTokenOptions;
  readonly #issuers: ReadonlySet<string>;
  readonly #keysById = new Map<string, VerifyingKey[]>();

  constructor(options: AccountTokenOptions) {
    this.#options = options;
    this.#issuers = new Set([LEGACY_ISSUER, ...options.issuers]);
    for (const key of options.keys) {
      const known = this.#keysById.get(key.id);
      if (known) known.push(key);
      else this.#keysById.set(key.id, [key]);
    }
  }

  async authenticate({ bearerToken, audiences: wanted }: Credentials): Promise<Authenticated | undefined> {
    const token = bearerToken === undefined ? undefined : parseToken(bearerToken);
    const issuer = token?.claims.iss;
    if (!token || typeof issuer !== "string" || !this.#issuers.has(issuer)) return undefined;
    this.#checkSignature(token);
    const common = publicClaims(token.claims);
    const audiences = this.#commonAudiences(common, wanted);
    const objects = new LiveObjects(this.#options.objects);
    const found = await this.#validate(bearerToken ?? "", token.claims, common, objects);
    const annotations =
      common.audiences.length > 0 ? found.annotations : { [LEGACY_ANNOTATION]: common.subject, ...found.annotations };
    return { ...found, audiences, annotations, isStillGood: () => objects.isUnchanged() };
  }

  #validate(bearerToken: string, claims: JsonObject, common: PublicClaims, objects: LiveObjects) {
    const { clock, lookup, label } = this.#options;
    const nowMs = clock.now();
    return common.issuer === LEGACY_ISSUER
      ? validateLegacy(bearerToken, common, claims, { objects, nowMs, lookup, label })
      : validateBound(common, kubernetesClaims(claims), objects, nowMs);
  }

  #checkSignature(token: UnverifiedToken): void {
    const keys = token.keyId === "" ? this.#options.keys : (this.#keysById.get(token.keyId) ?? []);
    if (keys.length === 0) throw new AuthenticationError("invalid signature, no keys found");
    if (!keys.some((key) => isSignedBy(token, key))) throw new AuthenticationError(BAD_SIGNATURE);
  }

  #commonAudiences({ audiences }: PublicClaims, wanted = this.#options.audiences): readonly string[] {
    const meant = audiences.length > 0 ? audiences : this.#options.audiences;
    const common = commonAudiences(meant, wanted);
    if (common.length > 0) return common;
    const quoted = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
    throw new AuthenticationError(
      `token audiences ${quoted(meant)} is invalid for the target audiences ${quoted(wanted)}`,
    );
  }
}

const LEGACY_ANNOTATION = "authentication.k8s.io/legacy-token";
/** Compat: the message of go-jose's `ErrCryptoFailure`. */
const BAD_SIGNATURE = "go-jose/go-jose: error in cryptographic primitive";
