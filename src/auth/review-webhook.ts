import { isObject, type JsonObject } from "../api/object.ts";
import type { Clock } from "../lib/clock.ts";
import type { Random } from "../lib/random.ts";

/** What the other server answered. */
export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** How an attempt ended, as metrics call it. */
export type AttemptResult = "success" | "error" | "timeout";

/** Whom to ask, and what about. */
export interface ReviewWebhookOptions {
  /** Sends a review. Rejects when there is no answer. */
  readonly post: (review: string) => Promise<WebhookAnswer>;
  /** What messages call it, such as "the token webhook". */
  readonly title: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  readonly random: Pick<Random, "fraction">;
  /** Hears of every attempt. */
  readonly attempted?: (result: AttemptResult, seconds: number) => void;
}

// Compat: `webhook.DefaultRetryBackoff`.
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 500;
const FACTOR = 1.5;
const JITTER = 0.2;

/** Why there is no answer to go by. */
export class ReviewFailure extends Error {
  /** Whether it may be gone in a moment. */
  readonly isPassing: boolean;
  readonly result: AttemptResult;

  constructor(message: string, isPassing: boolean, result: AttemptResult = "error") {
    super(message);
    this.isPassing = isPassing;
    this.result = result;
  }
}

/** Asks another server by a review, such as a TokenReview, and tries again what may pass. */
export class ReviewWebhook {
  readonly #options: ReviewWebhookOptions;

  constructor(options: ReviewWebhookOptions) {
    this.#options = options;
  }

  /** The `status` of the answer. `body` is the review but for kind and apiVersion. Throws ReviewFailure. */
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
      // What OpenSSL says is of no use to callers.
      const text = code === undefined ? message : `${title} gave no answer: ${code}`;
      return new ReviewFailure(text, code === "ECONNRESET", name === "TimeoutError" ? "timeout" : "error");
    }
    const { status, headers, body } = answer;
    if (status >= 200 && status < 300) return this.#read(body);
    // Compat: `DefaultShouldRetry`.
    const isPassing = [429, 500, 504].includes(status) || headers["retry-after"] !== undefined;
    return new ReviewFailure(
      `${title} answered with the status ${status}`,
      isPassing,
      status === 504 ? "timeout" : "error",
    );
  }

  #read(body: Uint8Array): JsonObject | ReviewFailure {
    const { title, ...expected } = this.#options;
    try {
      const review: unknown = JSON.parse(Buffer.from(body).toString());
      const { kind, apiVersion, status = {} } = isObject(review) ? review : {};
      if (kind === expected.kind && apiVersion === expected.apiVersion && isObject(status)) return status;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    const version = expected.apiVersion.split("/").at(-1);
    return new ReviewFailure(`${title} did not answer with a ${expected.kind} of ${version}`, false);
  }
}
