import { isObject, type JsonObject } from "../api/object.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { Clock } from "../lib/clock.ts";
import type { Random } from "../lib/random.ts";
import { commonAudiences } from "./audiences.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";

/** What the other server answered. */
export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** Whom to ask about tokens. */
export interface TokenWebhookOptions {
  /** Sends a TokenReview. Rejects when there is no answer. */
  readonly post: (review: string) => Promise<WebhookAnswer>;
  /** Of the TokenReview: "v1" or "v1beta1". */
  readonly version: string;
  /** For whom a token is of which the answer names no audiences. */
  readonly audiences: readonly string[];
  readonly clock: Pick<Clock, "sleep">;
  readonly random: Pick<Random, "fraction">;
}

const VERSIONS = ["v1", "v1beta1"];

// Compat: `webhook.DefaultRetryBackoff`.
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 500;
const FACTOR = 1.5;
const JITTER = 0.2;

/** Asks another server about bearer tokens: `--authentication-token-webhook-config-file`. */
export class TokenWebhook implements Authenticator {
  readonly #options: TokenWebhookOptions;

  /** Throws an Error when the version is not known. */
  constructor(options: TokenWebhookOptions) {
    if (!VERSIONS.includes(options.version)) {
      const supported = VERSIONS.map((version) => JSON.stringify(version)).join(", ");
      const text = `unsupported authentication webhook version ${JSON.stringify(options.version)}, supported versions are`;
      throw new Error(`${text} ${supported}`);
    }
    this.#options = options;
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
    const { version, clock, random } = this.#options;
    const review = JSON.stringify({
      kind: "TokenReview",
      apiVersion: `authentication.k8s.io/${version}`,
      metadata: {},
      spec: { token, ...(audiences && audiences.length > 0 ? { audiences } : {}) },
      status: { user: {} },
    });
    for (let attempt = 1, pauseMs = FIRST_PAUSE_MS; ; attempt++, pauseMs *= FACTOR) {
      const answer = await this.#ask(review);
      if (!(answer instanceof WebhookFailure)) return answer;
      if (!answer.isPassing || attempt === ATTEMPTS) throw answer;
      await clock.sleep(pauseMs * (1 + random.fraction() * JITTER));
    }
  }

  async #ask(review: string): Promise<JsonObject | WebhookFailure> {
    let answer: WebhookAnswer;
    try {
      answer = await this.#options.post(review);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return new WebhookFailure(message, code === "ECONNRESET");
    }
    const { status, headers, body } = answer;
    if (status >= 200 && status < 300) return readStatus(body, this.#options.version);
    // Compat: `DefaultShouldRetry`.
    const isPassing = [429, 500, 504].includes(status) || headers["retry-after"] !== undefined;
    return new WebhookFailure(`the token webhook answered with the status ${status}`, isPassing);
  }
}

/** Why there is no answer to go by: nobody's credentials are wrong. */
class WebhookFailure extends AuthenticationError {
  /** Whether it may be gone in a moment. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing: boolean) {
    super(message);
    this.isPassing = isPassing;
  }

  override get isExpected(): boolean {
    return false;
  }
}

function readStatus(body: Uint8Array, version: string): JsonObject | WebhookFailure {
  try {
    const review: unknown = JSON.parse(Buffer.from(body).toString());
    const { kind, apiVersion, status = {} } = isObject(review) ? review : {};
    const isReview = kind === "TokenReview" && apiVersion === `authentication.k8s.io/${version}`;
    if (isReview && isObject(status)) return status;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return new WebhookFailure(`the token webhook did not answer with a TokenReview of ${version}`, false);
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
  return new WebhookFailure(`the token webhook's answer has malformed ${what}`, false);
}
