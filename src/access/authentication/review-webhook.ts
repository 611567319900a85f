import { isObject, type JsonObject } from "../../base/api/object.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { Random } from "../../base/util/random.ts";
import { DecodeError, parseForeignJson } from "../../data/encoding/json/json.ts";

/** HTTP response of the webhook. */
export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** Result of an attempt, as used in metric labels. */
export type AttemptResult = "success" | "error" | "timeout";

/** Options of a ReviewWebhook. */
export interface ReviewWebhookOptions {
  /** Posts a review. Rejects if there is no response. */
  readonly post: (review: string) => Promise<WebhookAnswer>;
  /** Name of the webhook in error messages, such as "the token webhook". */
  readonly title: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  readonly random: Pick<Random, "fraction">;
  /** Called after every attempt. */
  readonly attempted?: (result: AttemptResult, seconds: number) => void;
}

// Compat: `webhook.DefaultRetryBackoff`.
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 500;
const FACTOR = 1.5;
const JITTER = 0.2;

/** The webhook gave no usable response. */
export class ReviewFailure extends Error {
  /** Whether the failure is transient, so that a retry can help. */
  readonly isPassing: boolean;
  readonly result: AttemptResult;

  constructor(message: string, isPassing: boolean, result: AttemptResult = "error") {
    super(message);
    this.isPassing = isPassing;
    this.result = result;
  }
}

/** Posts reviews, such as a TokenReview, to a webhook. Retries transient failures. */
export class ReviewWebhook {
  readonly #options: ReviewWebhookOptions;

  constructor(options: ReviewWebhookOptions) {
    this.#options = options;
  }

  /** Returns the `status` of the response. `body` is the review without kind and apiVersion. Throws ReviewFailure. */
  async ask(body: JsonObject): Promise<JsonObject> {
    const { kind, apiVersion, clock, random, attempted } = this.#options;
    const review = JSON.stringify({ kind, apiVersion, ...body });
    for (let attempt = 1, pauseMs = FIRST_PAUSE_MS; ; attempt++, pauseMs *= FACTOR) {
      const startMs = clock.monotonic();
      const answer = await this.#attempt(review);
      const isFailure = answer instanceof ReviewFailure;
      attempted?.(isFailure ? answer.result : "success", (clock.monotonic() - startMs) / 1000);
      if (!isFailure) return answer;
      if (!answer.isPassing || attempt === ATTEMPTS) throw answer;
      await clock.sleep(pauseMs * (1 + random.fraction() * JITTER));
    }
  }

  async #attempt(review: string): Promise<JsonObject | ReviewFailure> {
    const { post, title } = this.#options;
    let answer: WebhookAnswer;
    try {
      answer = await post(review);
    } catch (error) {
      const { code, message, name } = error as NodeJS.ErrnoException;
      // Messages of OpenSSL are of no use to clients; the error code is enough.
      const text = code === undefined ? message : `${title} is unreachable: ${code}`;
      return new ReviewFailure(text, code === "ECONNRESET", name === "TimeoutError" ? "timeout" : "error");
    }
    const { status, headers, body } = answer;
    if (status >= 200 && status < 300) return this.#read(body);
    // Compat: `DefaultShouldRetry`.
    const isPassing = [429, 500, 504].includes(status) || headers["retry-after"] !== undefined;
    return new ReviewFailure(
      `${title} answered with status ${status}`,
      isPassing,
      status === 504 ? "timeout" : "error",
    );
  }

  #read(body: Uint8Array): JsonObject | ReviewFailure {
    const { title, ...expected } = this.#options;
    try {
      const review: unknown = parseForeignJson(body);
      const { kind, apiVersion, status = {} } = isObject(review) ? review : {};
      if (kind === expected.kind && apiVersion === expected.apiVersion && isObject(status)) return status;
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
    const version = expected.apiVersion.split("/").at(-1);
    return new ReviewFailure(`${title} did not answer with a ${version} ${expected.kind}`, false);
  }
}
