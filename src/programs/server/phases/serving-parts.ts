import type { Call, Handler } from "../../../base/api/call.ts";
import type { Answer } from "../../../serving/http/listener.ts";

/**
 * The pipelines that answer requests. In a file of its own, because the declarations of the public API lead here, and the
 * package contains all that they lead to.
 */
export interface ServingParts {
  /** Answers clients that present credentials. */
  readonly secured: Answer;
  /** Treats every client as the administrator. */
  readonly open: Answer;
  /** Answers calls of this process, which name their user: see `callInProcess`. */
  readonly inProcess: Handler;
  /** Answer clients of the embedding program, which state their user: see `takeStatedUser`. */
  readonly embedded: { readonly answer: Answer; readonly handler: Handler };
  readonly reportError: (error: unknown, call?: Call) => void;
  /** Begins to watch for a blocked event loop. */
  start(): void;
}
