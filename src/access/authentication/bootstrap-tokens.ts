import { timingSafeEqual } from "node:crypto";
import { isObject, type KubeObject } from "../../base/api/object.ts";
import type { Clock } from "../../base/util/clock.ts";
import { getMember } from "../../base/util/members.ts";
import { canonicalTime, TimeError } from "../../data/schema/decode-time.ts";
import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const SECRET_TYPE = "bootstrap.kubernetes.io/token";

/** A stored Secret. */
export interface StoredSecret {
  readonly secret: KubeObject;
  /** Whether the Secret is unchanged. Checked locally, without a request to the store. */
  readonly isCurrent: () => boolean;
}

/** Finds a Secret in kube-system by name. */
export type FindSecret = (name: string) => Promise<StoredSecret | undefined>;

/**
 * Authenticates bootstrap tokens, with which nodes join: Secrets `bootstrap-token-<id>` in kube-system. Compat: the
 * bootstrap `TokenAuthenticator` has no opinion on a token that is wrong in any way.
 */
export class BootstrapTokens implements Authenticator {
  readonly #find: FindSecret;
  readonly #clock: Pick<Clock, "now">;

  constructor(find: FindSecret, clock: Pick<Clock, "now">) {
    this.#find = find;
    this.#clock = clock;
  }

  async authenticate({ bearerToken = "" }: Credentials): Promise<Authenticated | undefined> {
    const [, id = "", sent = ""] = TOKEN.exec(bearerToken) ?? [];
    if (id === "") return undefined;
    const found = await this.#find(`bootstrap-token-${id}`);
    if (found === undefined) return undefined;
    const { secret, isCurrent } = found;
    if (secret.metadata.deletionTimestamp !== undefined || secret.type !== SECRET_TYPE) return undefined;
    const data = (key: string): string => {
      const value = isObject(secret.data) ? getMember(secret.data, key) : undefined;
      return typeof value === "string" ? Buffer.from(value, "base64").toString() : "";
    };
    const isRight = isEqual(data("token-secret"), sent) && data("token-id") === id;
    if (!isRight || data("usage-bootstrap-authentication") !== "true") return undefined;
    const endsMs = expirationOf(data("expiration"));
    const isValid = (): boolean => endsMs > this.#clock.now();
    const groups = groupsOf(data("auth-extra-groups"));
    if (!isValid() || groups === undefined) return undefined;
    return { user: { name: `system:bootstrap:${id}`, groups }, isStillGood: () => isValid() && isCurrent() };
  }
}

function isEqual(known: string, sent: string): boolean {
  const [a, b] = [Buffer.from(known), Buffer.from(sent)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Milliseconds since the epoch. Infinity for an empty text; -Infinity, which means expired, for an invalid time. */
function expirationOf(text: string): number {
  if (text === "") return Number.POSITIVE_INFINITY;
  try {
    return Date.parse(canonicalTime(text));
  } catch (error) {
    if (error instanceof TimeError) return Number.NEGATIVE_INFINITY;
    throw error;
  }
}

/** Undefined if one of the groups is not allowed for bootstrap tokens. */
function groupsOf(text: string): string[] | undefined {
  const extra = text === "" ? [] : text.split(",");
  if (!extra.every((group) => GROUP.test(group))) return undefined;
  return [...new Set(["system:bootstrappers", ...extra])].sort();
}
