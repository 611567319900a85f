import { isObject, type JsonObject } from "../../base/api/object.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { Random } from "../../base/util/random.ts";
import { commonAudiences } from "./audiences.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";
import { ReviewFailure, ReviewWebhook, type WebhookAnswer } from "./review-webhook.ts";

/** Options of a TokenWebhook. */
export interface TokenWebhookOptions {
  /** Posts a TokenReview. Rejects if there is no response. */
  readonly post: (review: string) => Promise<WebhookAnswer>;
  /** API version of the TokenReview: "v1" or "v1beta1". */
  readonly version: string;
  /** Audiences of a token for which the response names no audiences. */
  readonly audiences: readonly string[];
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  readonly random: Pick<Random, "fraction">;
}

const VERSIONS = ["v1", "v1beta1"];

/** Authenticates bearer tokens through a webhook: `--authentication-token-webhook-config-file`. */
export class TokenWebhook implements Authenticator {
  readonly #options: TokenWebhookOptions;
  readonly #webhook: ReviewWebhook;

  /** Throws an Error if the version is unknown. */
  constructor(options: TokenWebhookOptions) {
    if (!VERSIONS.includes(options.version)) {
      const supported = VERSIONS.map((version) => JSON.stringify(version)).join(", ");
      const text = `unsupported authentication webhook version ${JSON.stringify(options.version)}, supported versions are`;
      throw new Error(`${text} ${supported}`);
    }
    this.#options = options;
    const { post, version, clock, random } = options;
    const apiVersion = `authentication.k8s.io/${version}`;
    this.#webhook = new ReviewWebhook({
      post,
      title: "the token webhook",
      kind: "TokenReview",
      apiVersion,
      clock,
      random,
    });
  }

  async authenticate({ bearerToken = "", audiences: wanted }: Credentials): Promise<Authenticated | undefined> {
    if (bearerToken === "") return undefined;
    const status = await this.#review(bearerToken, wanted);
    const named = texts(status.audiences, "audiences");
    const audiences = wanted && commonAudiences(named.length > 0 ? named : this.#options.audiences, wanted);
    if (audiences?.length === 0) return undefined;
    if (status.authenticated === true) return { user: readUser(status.user), ...(audiences ? { audiences } : {}) };
    if (typeof status.error === "string" && status.error !== "") throw new AuthenticationError(status.error);
    return undefined;
  }

  async #review(token: string, audiences: readonly string[] | undefined): Promise<JsonObject> {
    const named = audiences && audiences.length > 0 ? { audiences: [...audiences] } : {};
    try {
      return await this.#webhook.ask({ metadata: {}, spec: { token, ...named }, status: { user: {} } });
    } catch (error) {
      throw error instanceof ReviewFailure ? new WebhookFailure(error.message) : error;
    }
  }
}

/** The webhook failed, so it is unknown whether the credentials are valid. */
class WebhookFailure extends AuthenticationError {
  override get isExpected(): boolean {
    return false;
  }
}

function readUser(user: unknown): UserInfo {
  const { username = "", uid = "", groups, extra = {} } = isObject(user) ? user : {};
  if (typeof username !== "string" || typeof uid !== "string" || !isObject(extra)) throw malformed("user");
  const lists = Object.entries(extra).map(([key, values]): [string, string[]] => [key, texts(values, "extra")]);
  return {
    name: username,
    ...(uid === "" ? {} : { uid }),
    groups: texts(groups, "groups"),
    ...(lists.length === 0 ? {} : { extra: Object.fromEntries(lists) }),
  };
}

function texts(value: unknown, what: string): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw malformed(what);
}

function malformed(what: string): WebhookFailure {
  return new WebhookFailure(`the token webhook's response has malformed ${what}`);
}
