import { isObject, type JsonObject } from "../api/object.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { Clock } from "../lib/clock.ts";
import type { Random } from "../lib/random.ts";
import { commonAudiences } from "./audiences.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";
import { ReviewFailure, ReviewWebhook, type WebhookAnswer } from "./review-webhook.ts";

/** Whom to ask about tokens. */
export interface TokenWebhookOptions {
  /** Sends a TokenReview. Rejects when there is no answer. */
  readonly post: (review: string) => Promise<WebhookAnswer>;
  /** Of the TokenReview: "v1" or "v1beta1". */
  readonly version: string;
  /** For whom a token is of which the answer names no audiences. */
  readonly audiences: readonly string[];
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  readonly random: Pick<Random, "fraction">;
}

const VERSIONS = ["v1", "v1beta1"];

/** Asks another server about bearer tokens: `--authentication-token-webhook-config-file`. */
export class TokenWebhook implements Authenticator {
  readonly #options: TokenWebhookOptions;
  readonly #webhook: ReviewWebhook;

  /** Throws an Error when the version is not known. */
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

/** Why there is no answer to go by: nobody's credentials are wrong. */
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
  return new WebhookFailure(`the token webhook's answer has malformed ${what}`);
}
