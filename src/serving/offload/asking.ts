import type { FromThread, SentError, ToThread } from "./messages.ts";
import { receiveError, sendError } from "./messages.ts";

/** Calls a method of a shared part on the main thread. */
export type Ask = (part: string, method: string, values: readonly unknown[]) => Promise<unknown>;

type Answer = Extract<ToThread, { readonly type: "answer" }>;
type Question = Extract<FromThread, { readonly type: "ask" }>;

/** Pending calls from a worker thread to the main thread. */
export class Questions {
  readonly #post: (message: FromThread) => void;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  constructor(post: (message: FromThread) => void) {
    this.#post = post;
  }

  readonly ask: Ask = (part, method, values) => {
    const id = ++this.#last;
    const pending = Promise.withResolvers<unknown>();
    this.#open.set(id, pending);
    this.#post({ type: "ask", id, part, method, values });
    return pending.promise;
  };

  answered({ id, value, error }: Answer): void {
    const pending = this.#open.get(id);
    this.#open.delete(id);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(receiveError(error));
  }
}

/** A proxy in a worker thread for a part of the main thread. All methods return promises. */
export function remotePart<T, Method extends keyof T & string>(
  ask: Ask,
  part: string,
  methods: readonly Method[],
): Pick<T, Method> {
  const remote = methods.map((method) => [method, (...values: unknown[]) => ask(part, method, values)] as const);
  return Object.fromEntries(remote) as unknown as Pick<T, Method>;
}

/** Parts of the main thread that worker threads may call, by name. */
export type SharedParts = Readonly<Record<string, object>>;

/** Executes a call from a worker thread. Never rejects. */
export async function answerQuestion(parts: SharedParts, { id, part, method, values }: Question): Promise<Answer> {
  try {
    const asked = parts[part] as Readonly<Record<string, (...values: readonly unknown[]) => unknown>> | undefined;
    if (asked?.[method] === undefined) throw new Error(`worker threads cannot call ${part}.${method}`);
    return { type: "answer", id, value: await asked[method](...values) };
  } catch (error) {
    const sent: SentError = sendError(error);
    return { type: "answer", id, error: sent };
  }
}
